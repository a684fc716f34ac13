"""Signs of life: to a monitor elsewhere (`monitor`), and as signed events in the log (`beat`, `beating`)."""
