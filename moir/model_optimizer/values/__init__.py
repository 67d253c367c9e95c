"""Values as extensions read and write them: shapes with dynamic dimensions, Python values, masks of slices."""
