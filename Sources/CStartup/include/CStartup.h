// The module has nothing to call: what is in it stands in for a part of the Swift runtime. See arguments.c.
