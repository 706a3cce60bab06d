print("mediatool")
