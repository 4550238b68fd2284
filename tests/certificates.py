"""Certificates for encrypted connections, made by openssl."""

import shutil
import subprocess
from pathlib import Path

import pytest


def make_certificates(folder: Path) -> None:
    """An authority's `ca.pem`, and `me.pem` with its key `me.key`, signed by it for 127.0.0.1."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed; on Debian: apt-get install openssl")
    folder.mkdir(exist_ok=True)
    new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    for words in (
        f"req -x509 {new} -subj /CN=lab -keyout ca.key -out ca.pem",
        f"req {new} -subj /CN=127.0.0.1 -keyout me.key -out me.csr",
        "x509 -req -in me.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out me.pem",
    ):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)
