"""Control flow recovered inside framework dialects, before they are lowered."""
