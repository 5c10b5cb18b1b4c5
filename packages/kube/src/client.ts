import { ApiCaller, type ApiCall, type CallOptions } from './api-call.ts';
import type {
  ApplyOptions,
  DeleteOptions,
  JsonPatchOperation,
  KubeClientOptions,
  ListOptions,
  SubresourceOptions,
  WatchOptions,
} from './client-options.ts';
import { systemClock } from './clock.ts';
import { isKubeError } from './error.ts';
import type { KubeList, KubeObject, Live, ObjectRef } from './object.ts';
import { apiVersionOf, collectionPath, objectPath, type Resource, withQuery } from './resource.ts';
import { APPLY_PATCH_TYPE, JSON_PATCH_TYPE, MERGE_PATCH_TYPE } from './transport.ts';
import { decodeWatch, type WatchEvent } from './watch-event.ts';

/** The one field manager of this operator: whoever reads managedFields sees who it was. */
export const FIELD_MANAGER = 'valkey-operator';

const PAGE_SIZE = 500;

/** Kubernetes' verbs over raw JSON: what is sent is what was given, no field is dropped on the way. */
export class KubeClient {
  readonly #caller: ApiCaller;

  constructor(options: KubeClientOptions) {
    const { transport, clock = systemClock, random = Math.random, onCall, timeoutMs = 30_000 } = options;
    this.#caller = new ApiCaller({ transport, clock, random, onCall, timeoutMs });
  }

  /** The object, or undefined when there is none. */
  async get<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    options: SubresourceOptions = {},
  ): Promise<Live<T> | undefined> {
    const { subresource, ...call } = options;
    const path = objectPath(resource, ref, subresource);
    const found = this.#call<Live<T>>(resource, { verb: 'get', method: 'GET', path, ...call }, subresource);
    return orWhenMissing(found, undefined);
  }

  /** A whole collection at one resourceVersion, in memory at once. */
  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const whole: KubeList<T> = { metadata: {}, items: [] };
    for await (const page of this.listPages(resource, options)) {
      whole.items.push(...page.items);
      whole.metadata = page.metadata;
    }
    return whole;
  }

  /** A collection page by page. All pages show the resourceVersion of the first; Expired when they are read too slowly. */
  async *listPages<T extends KubeObject>(
    resource: Resource<T>,
    options: ListOptions = {},
  ): AsyncGenerator<KubeList<T>, void, undefined> {
    const { namespace, labelSelector, fieldSelector, pageSize = PAGE_SIZE, ...call } = options;
    let token: string | undefined;
    do {
      const query = { labelSelector, fieldSelector, limit: pageSize, continue: token };
      const path = withQuery(collectionPath(resource, namespace), query);
      const page = await this.#call<KubeList<T>>(resource, { verb: 'list', method: 'GET', path, ...call });
      yield { metadata: page.metadata, items: page.items.map((item) => withKind(resource, item)) };
      token = page.metadata.continue || undefined;
    } while (token);
  }

  /** Ends when the server ends it; throws when it breaks, and Expired when the resourceVersion is too old. */
  watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, ...call } = options;
    const query = {
      watch: 1,
      allowWatchBookmarks: 'true',
      labelSelector,
      fieldSelector,
      resourceVersion,
      timeoutSeconds,
    };
    const path = withQuery(collectionPath(resource, namespace), query);
    const label = resourceLabel(resource);
    return decodeWatch<T>(this.#caller.stream({ verb: 'watch', resource: label, method: 'GET', path, ...call }));
  }

  create<T extends KubeObject>(resource: Resource<T>, object: T, options: CallOptions = {}): Promise<Live<T>> {
    const path = withQuery(collectionPath(resource, object.metadata.namespace), { fieldManager: FIELD_MANAGER });
    const body = JSON.stringify(object);
    return this.#call(resource, { verb: 'create', method: 'POST', path, body, ...options });
  }

  /** Server-side apply: creates the object, or makes the fields given here what they are here and drops those given before. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions = {}): Promise<Live<T>> {
    return this.#apply(resource, object, options);
  }

  /** Server-side apply of the status alone. `object` needs no spec. */
  applyStatus<T extends KubeObject>(
    resource: Resource<T>,
    object: KubeObject & { status: unknown },
    options: ApplyOptions = {},
  ): Promise<Live<T>> {
    return this.#apply(resource, object, options, 'status');
  }

  /** A merge patch (RFC 7386). With metadata.resourceVersion in it, it throws Conflict when the object has changed since. */
  mergePatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: object,
    options: SubresourceOptions = {},
  ): Promise<Live<T>> {
    return this.#patch(resource, ref, MERGE_PATCH_TYPE, patch, options);
  }

  /** A JSON patch (RFC 6902); its `test` operations make it conditional (Invalid when one fails). */
  jsonPatch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    patch: JsonPatchOperation[],
    options: SubresourceOptions = {},
  ): Promise<Live<T>> {
    return this.#patch(resource, ref, JSON_PATCH_TYPE, patch, options);
  }

  /** `deleted` also when it only started: a finalizer or the grace period may hold the object for a while. */
  async delete(resource: Resource, ref: ObjectRef, options: DeleteOptions = {}): Promise<'deleted' | 'missing'> {
    const { uid, resourceVersion, propagation = 'Background', gracePeriodSeconds, ...call } = options;
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid, resourceVersion },
      propagationPolicy: propagation,
      gracePeriodSeconds,
    });
    const path = objectPath(resource, ref);
    const gone = this.#call(resource, { verb: 'delete', method: 'DELETE', path, body, ...call });
    return (await orWhenMissing(gone, undefined)) === undefined ? 'missing' : 'deleted';
  }

  /** Posts to a subresource, for those that are verbs rather than parts: `eviction`, `token`. */
  postSubresource<T>(
    resource: Resource,
    ref: ObjectRef,
    subresource: string,
    body: object,
    options: CallOptions & Pick<ApiCall, 'throttled'> = {},
  ): Promise<T> {
    const path = objectPath(resource, ref, subresource);
    const call = { verb: 'create', method: 'POST', path, body: JSON.stringify(body), ...options } as const;
    return this.#call(resource, call, subresource);
  }

  #apply<T extends KubeObject>(
    resource: Resource<T>,
    object: KubeObject,
    { force = true, dryRun = false, ...call }: ApplyOptions,
    subresource?: string,
  ): Promise<Live<T>> {
    const query = { fieldManager: FIELD_MANAGER, force, dryRun: dryRun ? 'All' : undefined };
    const path = withQuery(objectPath(resource, object.metadata, subresource), query);
    const body = JSON.stringify(object);
    const contentType = APPLY_PATCH_TYPE;
    return this.#call(resource, { verb: 'apply', method: 'PATCH', path, contentType, body, ...call }, subresource);
  }

  #patch<T extends KubeObject>(
    resource: Resource<T>,
    ref: ObjectRef,
    contentType: string,
    patch: object,
    { subresource, ...call }: SubresourceOptions,
  ): Promise<Live<T>> {
    const path = withQuery(objectPath(resource, ref, subresource), { fieldManager: FIELD_MANAGER });
    const body = JSON.stringify(patch);
    return this.#call(resource, { verb: 'patch', method: 'PATCH', path, contentType, body, ...call }, subresource);
  }

  #call<T>(resource: Resource, call: Omit<ApiCall, 'resource'>, subresource?: string): Promise<T> {
    return this.#caller.call({ ...call, resource: resourceLabel(resource, subresource) });
  }
}

function resourceLabel(resource: Resource, subresource?: string): string {
  return subresource ? `${resource.plural}/${subresource}` : resource.plural;
}

/** The server leaves apiVersion and kind out of the items of a list, though everything downstream wants them. */
function withKind<T extends KubeObject>(resource: Resource<T>, item: Live<T>): Live<T> {
  return { ...item, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

async function orWhenMissing<T, M>(found: Promise<T>, missing: M): Promise<T | M> {
  try {
    return await found;
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return missing;
    throw error;
  }
}
