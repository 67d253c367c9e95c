"""`moir report`: a page that shows a conversion step by step."""
