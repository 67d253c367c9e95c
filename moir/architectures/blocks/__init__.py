"""The blocks of a layer: classes that append the operations of attention, feed-forward networks and recurrences."""
