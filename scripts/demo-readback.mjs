/**
 * Reads a table with icebird, an Iceberg reader in plain JavaScript that shares no code with Floe:
 * metadata from the REST catalog, then manifests and Parquet files over the S3 protocol.
 */

import { AwsClient } from 'aws4fetch';
import { icebergRead } from 'icebird';

export const READER = 'icebird 0.3.1 (with hyparquet)';

/**
 * @param {{ origin: string, bucket: string, s3: { endpoint: string, accessKeyId: string, secretAccessKey: string } }} runtime
 * @returns {Promise<{ metadata: object, rows: object[] }>}
 */
export async function readTable(runtime, namespace, table) {
  const url = `${runtime.origin}/iceberg/v1/namespaces/${namespace}/tables/${table}`;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The catalog answered ${response.status} for ${url}`);
  const { metadata } = await response.json();
  const giveBack = signBucketRequests(runtime);
  try {
    return { metadata, rows: await icebergRead({ tableUrl: metadata.location, metadata }) };
  } finally {
    giveBack();
  }
}

/**
 * icebird turns `s3://bucket/key` into the public address of that bucket at AWS and calls `fetch`.
 * For the time of the reading those calls go to the local endpoint instead, signed.
 */
function signBucketRequests({ bucket, s3 }) {
  const { accessKeyId, secretAccessKey } = s3;
  const client = new AwsClient({
    accessKeyId,
    secretAccessKey,
    service: 's3',
    region: 'auto',
    retries: 0,
  });
  const plainFetch = globalThis.fetch;
  const publicPrefix = `https://${bucket}.s3.amazonaws.com/`;
  globalThis.fetch = async (input, init) => {
    if (typeof input !== 'string' || !input.startsWith(publicPrefix))
      return plainFetch(input, init);
    const address = `${s3.endpoint}/${bucket}/${input.slice(publicPrefix.length)}`;
    return plainFetch(await client.sign(address, init));
  };
  return () => {
    globalThis.fetch = plainFetch;
  };
}
