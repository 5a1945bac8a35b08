"""Objects by their full URI, from a local folder or through the S3 protocol."""

import os
from urllib.parse import urlparse


class LocalStorage:
    """`file://` URIs and plain paths."""

    @staticmethod
    def _path(uri: str) -> str:
        return urlparse(uri).path if uri.startswith("file:") else uri

    def size(self, uri: str) -> int | None:
        """Size in bytes; None when there is no such object."""
        path = self._path(uri)
        return os.path.getsize(path) if os.path.isfile(path) else None

    def read(self, uri: str) -> bytes:
        with open(self._path(uri), "rb") as file:
            return file.read()


class S3Storage:
    """`s3://bucket/key`; the key is used exactly as it is recorded."""

    def __init__(self, endpoint: str, access_key: str, secret_key: str, region: str):
        import boto3
        from botocore.config import Config

        self._client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id=access_key,
            aws_secret_access_key=secret_key,
            region_name=region,
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}),
        )

    @staticmethod
    def _split(uri: str) -> tuple[str, str]:
        scheme, _, rest = uri.partition("://")
        if scheme not in ("s3", "s3a"):
            raise ValueError(f"Not an S3 URI: {uri}")
        bucket, _, key = rest.partition("/")
        return bucket, key

    def size(self, uri: str) -> int | None:
        from botocore.exceptions import ClientError

        bucket, key = self._split(uri)
        try:
            return self._client.head_object(Bucket=bucket, Key=key)["ContentLength"]
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                return None
            raise

    def read(self, uri: str) -> bytes:
        bucket, key = self._split(uri)
        return self._client.get_object(Bucket=bucket, Key=key)["Body"].read()
