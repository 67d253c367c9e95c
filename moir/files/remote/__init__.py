"""Models and results that lie elsewhere: in a bucket, on a web server, in a hub.

The rest of moir sees local paths only. What is read is downloaded to a folder of this machine before the frontend
(`models.py`, `mirror.py`, `download.py`), what is written is uploaded when it is complete (`upload.py`). fsspec knows
the stores (`store.py`); it is imported when the first address is used.
"""
