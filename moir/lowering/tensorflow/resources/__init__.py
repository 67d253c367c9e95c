"""Resources and variants: variables, hash tables, lists of tensors."""
