import { once } from 'node:events';
import type { KubeObject, Live } from '../object.ts';
import { APPLY_PATCH_TYPE, type TransportRequest, type TransportResponse } from '../transport.ts';
import { ByteStream } from './byte-stream.ts';

/** A root, perhaps a namespace, and a plural with no name after it. */
const COLLECTION = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(\/namespaces\/[^/]+)?\/[^/]+$/;

interface OpenWatch {
  collection: string;
  body: ByteStream;
}

/**
 * Just enough of an API server, behind the transport, to drive time and faults exactly: versions, conflicts, pages, watches.
 * What the real server does is asserted against the real one, in tests/e2e.
 */
export class FakeApi {
  readonly requests: TransportRequest[] = [];
  /** Answers instead of the server when it returns something; may throw, or never settle. */
  intercept: (request: TransportRequest) => TransportResponse | Promise<TransportResponse> | undefined = () =>
    undefined;
  readonly #objects = new Map<string, Live>();
  readonly #history: { collection: string; version: number; line: string }[] = [];
  #watches: OpenWatch[] = [];
  #version = 100;
  #oldest = 0;

  readonly transport = async (request: TransportRequest): Promise<TransportResponse> => {
    this.requests.push(request);
    const intercepted = this.intercept(request);
    return intercepted ? Promise.race([intercepted, untilAborted(request.signal)]) : this.#answer(request);
  };

  get openWatches(): number {
    return this.#watches.length;
  }

  get(path: string): Live | undefined {
    return this.#objects.get(path);
  }

  /** Creates or changes an object as some other client would. */
  put(path: string, object: Partial<KubeObject> & Record<string, unknown>, uid?: string): Live {
    const before = this.#objects.get(path);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const namespace = /\/namespaces\/([^/]+)\/[^/]+\/[^/]+$/.exec(path)?.[1];
    const version = String(++this.#version);
    const metadata = {
      name,
      namespace,
      ...object.metadata,
      uid: uid ?? before?.metadata.uid ?? `uid-${version}`,
      resourceVersion: version,
    };
    const after = { apiVersion: 'v1', kind: 'Thing', ...object, metadata };
    this.#objects.set(path, after);
    this.#tell(path, before?.metadata.uid === metadata.uid ? 'MODIFIED' : 'ADDED', after);
    return after;
  }

  remove(path: string): void {
    const object = this.#objects.get(path);
    if (!object) return;
    this.#objects.delete(path);
    const resourceVersion = String(++this.#version);
    this.#tell(path, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  /** Forgets history, as etcd's compaction does: watches from before it get 410. */
  compact(): void {
    this.#oldest = this.#version;
  }

  bookmark(): void {
    const line = watchLine('BOOKMARK', { metadata: { resourceVersion: String(this.#version) } });
    for (const watch of this.#watches) watch.body.push(line);
  }

  /** Ends the open watches as their time-out would. */
  endWatches(): void {
    for (const watch of this.#watches.splice(0)) watch.body.end();
  }

  breakWatches(): void {
    for (const watch of this.#watches.splice(0)) watch.body.fail(new Error('socket hang up'));
  }

  /** The open watches stay open, and nothing comes any more. */
  silenceWatches(): void {
    this.#watches = [];
  }

  #tell(path: string, type: string, object: object): void {
    const collection = path.slice(0, path.lastIndexOf('/'));
    const line = watchLine(type, object);
    this.#history.push({ collection, version: this.#version, line });
    for (const watch of this.#watches) if (watch.collection === collection) watch.body.push(line);
  }

  #answer(request: TransportRequest): TransportResponse {
    const url = new URL(request.path, 'http://fake');
    const path = url.pathname;
    const body = request.body === undefined ? undefined : JSON.parse(request.body);
    if (request.method === 'POST') return this.#create(`${path}/${body.metadata.name}`, body);
    if (request.method === 'PATCH') return this.#patch(path.replace(/\/status$/, ''), body, request.contentType);
    if (url.searchParams.has('watch'))
      return this.#watch(path, Number(url.searchParams.get('resourceVersion')), request.signal);
    if (request.method === 'DELETE') this.remove(path);
    const object = this.#objects.get(path);
    if (object) return json(200, object);
    return COLLECTION.test(path) ? this.#list(path, url.searchParams) : failure(404, 'NotFound');
  }

  #list(collection: string, query: URLSearchParams): TransportResponse {
    const all = [...this.#objects].filter(([path]) => path.startsWith(`${collection}/`)).map(([, object]) => object);
    const start = Number(query.get('continue') ?? 0);
    const end = start + Number(query.get('limit') ?? all.length);
    const next = end < all.length ? String(end) : '';
    return json(200, {
      metadata: { resourceVersion: String(this.#version), continue: next },
      items: all.slice(start, end),
    });
  }

  #watch(collection: string, from: number, signal: AbortSignal): TransportResponse {
    if (from < this.#oldest)
      return { status: 200, body: bytes(watchLine('ERROR', { kind: 'Status', code: 410, reason: 'Expired' })) };
    const body = new ByteStream();
    this.#watches.push({ collection, body });
    for (const past of this.#history) if (past.collection === collection && past.version > from) body.push(past.line);
    signal.addEventListener('abort', () => body.fail(signal.reason));
    return { status: 200, body };
  }

  #create(path: string, object: KubeObject): TransportResponse {
    return this.#objects.has(path) ? failure(409, 'AlreadyExists') : json(201, this.put(path, { ...object }));
  }

  #patch(path: string, patch: KubeObject, contentType: string | undefined): TransportResponse {
    const object = this.#objects.get(path);
    // Server-side apply creates; the status of nothing cannot be applied, but then it names a version.
    if (!object && contentType === APPLY_PATCH_TYPE && !patch.metadata.resourceVersion)
      return this.#create(path, patch);
    if (!object) return failure(404, 'NotFound');
    const expected = patch.metadata?.resourceVersion;
    if (expected && expected !== object.metadata.resourceVersion) return failure(409, 'Conflict');
    return json(200, this.put(path, mergePatch(object, patch) as Live & Record<string, unknown>));
  }
}

export function json(status: number, value: unknown): TransportResponse {
  return { status, body: bytes(JSON.stringify(value)) };
}

export function failure(status: number, reason: string, rest: object = {}): TransportResponse {
  return json(status, { kind: 'Status', code: status, reason, message: reason, ...rest });
}

function watchLine(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

async function* bytes(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(text);
}

/** Never answers; ends as an aborted request does. */
export async function untilAborted(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort');
  throw signal.reason;
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...(typeof target === 'object' ? target : {}) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = mergePatch(merged[name], value);
  }
  return merged;
}
