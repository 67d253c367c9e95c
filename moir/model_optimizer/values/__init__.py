"""Values as extensions read and write them: shapes with unknown dimensions, Python values, masks of slices."""
