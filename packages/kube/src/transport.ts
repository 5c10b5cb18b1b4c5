export const JSON_TYPE = 'application/json';
export const MERGE_PATCH_TYPE = 'application/merge-patch+json';
export const JSON_PATCH_TYPE = 'application/json-patch+json';
/** JSON is YAML; the server knows no `apply-patch+json` before 1.34. */
export const APPLY_PATCH_TYPE = 'application/apply-patch+yaml';

/** One request to the API server. The path carries its query. */
export interface TransportRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  contentType?: string | undefined;
  body?: string | undefined;
  /** Ends the request, and the body of its response. */
  signal: AbortSignal;
}

export interface TransportResponse {
  status: number;
  retryAfterMs?: number | undefined;
  body: AsyncIterable<Uint8Array>;
}

/** Resolves when the response's headers are here; rejects when there is no response. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

export async function readBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
