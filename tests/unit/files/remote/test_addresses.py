"""Addresses as text: what they mean, and what messages show of them."""

from __future__ import annotations

import pytest

from moir.errors import UsageError
from moir.files.remote import addresses
from moir.files.remote.addresses import folder_of, identity, is_address, is_inside, is_whole_bucket, joined, name_of, scheme_of, shown

SIGNED = "https://user:word@host/folder/a%20net.onnx?X-Amz-Signature=secret&id=5"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("s3://b/k", True), ("https://h/x?y", True), ("model.onnx", False), ("/a//b", False), ("C:\\a", False), ("1://x", False), ("", False)],
)
def test_an_address_has_a_scheme(text: str, expected: bool) -> None:
    assert is_address(text) is expected


def test_messages_show_no_secret() -> None:
    assert shown(SIGNED) == "https://host/folder/a%20net.onnx"
    assert shown("s3://key:secret@bucket/k") == "s3://bucket/k"
    assert shown("folder/what?.onnx") == "folder/what?.onnx"
    text = addresses.without_secrets(f"Cannot connect to {SIGNED}: 'http://a/b?sig=1' failed")
    assert text == "Cannot connect to https://host/folder/a%20net.onnx 'http://a/b' failed"


def test_names_and_folders() -> None:
    assert name_of(SIGNED) == "a net.onnx"
    assert folder_of(SIGNED) == "https://user:word@host/folder?X-Amz-Signature=secret&id=5"
    assert joined(folder_of(SIGNED), "a b/c#.bin") == "https://user:word@host/folder/a%20b/c%23.bin?X-Amz-Signature=secret&id=5"
    assert (name_of("s3://b/a/c.onnx"), folder_of("s3://b/a/c.onnx"), joined("s3://b/a/", "./x/y")) == (
        "c.onnx",
        "s3://b/a",
        "s3://b/a/x/y",
    )
    assert joined("s3://b/a", ".") == "s3://b/a"
    assert joined("s3://b/a", "gs://c") == "gs://c"
    assert joined("s3://b/a", "/ir") == "/ir"
    assert joined("folder", "x.xml") == "folder/x.xml"
    with pytest.raises(UsageError, match="leads out of the folder"):
        joined("s3://b/a", "../x")
    for address in ("https://host", "https://host/a%2Fb", "s3://b/.hidden", "https://host/%00"):
        with pytest.raises(UsageError, match="has no name"):
            name_of(address)


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "C:\\x", "a//b", "", ".", "a/.b", "a\nb", "x" * 300])
def test_names_that_lead_elsewhere(name: str) -> None:
    assert not is_inside(name)


def test_what_somebody_has_stored_is_not_a_model() -> None:
    for address in ("s3://bucket", "s3://bucket/", "gs://", "hf://owner"):
        assert is_whole_bucket(address)
    for address in ("s3://bucket/a", "hf://owner/model", "https://host"):
        assert not is_whole_bucket(address)


def test_an_address_that_is_signed_again_is_the_same() -> None:
    assert identity(SIGNED) == identity(SIGNED.replace("secret", "other")) == "https://host/folder/a%20net.onnx?id=5"
    assert identity("https://h/download?id=5") != identity("https://h/download?id=6")


def test_unknown_schemes() -> None:
    with pytest.raises(UsageError, match=r"the scheme 'file' are not read; files are read from s3://"):
        scheme_of("file:///etc/passwd")
    assert scheme_of("S3://b/k") == "s3"
