"""Media at addresses: real servers, some of them bad, near and far, and what every command makes of them."""
