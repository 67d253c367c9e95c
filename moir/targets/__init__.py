"""Where runtimes deviate from the operation sets, and the forms that moir writes instead so that results are right."""
