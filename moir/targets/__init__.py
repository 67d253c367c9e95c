"""What runtimes compute otherwise than the operation sets say, and the forms in which moir writes it for them."""
