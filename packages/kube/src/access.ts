import type { Clock } from './clock.ts';

/** What a request shows to the server, and what it expects the server to show. */
export interface Credentials {
  /** PEM bundle that the server's certificate must chain to; the system's roots when absent. */
  ca?: string;
  /** Client certificate and key, PEM. */
  cert?: string;
  key?: string;
  /** The whole Authorization header. */
  authorization?: string;
}

/** Where a cluster is and how to be somebody there. */
export interface ClusterAccess {
  readonly server: URL;
  /** The namespace a context or pod is in. */
  readonly namespace: string;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly proxyUrl?: string | undefined;
  credentials(): Promise<Credentials>;
  /** The server answered 401: whatever was remembered is not to be used again. */
  forgetCredentials(): void;
}

interface Loaded {
  credentials: Credentials;
  /** How long they may be used without looking again; never again when absent. */
  freshForMs?: number | undefined;
}

/**
 * Remembers credentials while they are fresh. Concurrent callers share one load. When a later load fails, the old ones are
 * used on: a token file that is missing for a moment during rotation must not stop a healthy client.
 */
export function rememberCredentials(
  clock: Clock,
  load: () => Promise<Loaded>,
): Pick<ClusterAccess, 'credentials' | 'forgetCredentials'> {
  let remembered: Credentials | undefined;
  let freshUntil = -Infinity;
  let loading: Promise<Credentials> | undefined;

  const reload = async (): Promise<Credentials> => {
    try {
      const loaded = await load();
      remembered = loaded.credentials;
      freshUntil = clock.monotonic() + (loaded.freshForMs ?? Infinity);
      return remembered;
    } catch (error) {
      if (!remembered) throw error;
      return remembered;
    } finally {
      loading = undefined;
    }
  };

  return {
    credentials() {
      if (remembered && clock.monotonic() < freshUntil) return Promise.resolve(remembered);
      loading ??= reload();
      return loading;
    },
    forgetCredentials() {
      freshUntil = -Infinity;
    },
  };
}

/** The same cluster as somebody else: how the UI acts as the signed-in user. */
export function asBearer(access: ClusterAccess, token: string): ClusterAccess {
  return {
    ...access,
    credentials: async () => ({ ca: (await access.credentials()).ca, authorization: `Bearer ${token}` }),
    forgetCredentials: () => {},
  };
}
