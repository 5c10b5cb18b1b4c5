import http from 'node:http';
import https from 'node:https';
import type { ClusterAccess, Credentials } from './access.ts';
import {
  APPLY_PATCH_TYPE,
  JSON_TYPE,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from './transport.ts';

/** TCP probes start after this silence and give up ten seconds later: a vanished peer is noticed even by a quiet watch. */
const TCP_PROBE_AFTER_MS = 20_000;

interface Exchange {
  response?: http.IncomingMessage;
  failure?: unknown;
  /** The connection had served an earlier request. */
  reused: boolean;
}

/**
 * HTTP/1.1 over node:http(s), which the runtime has in it: undici costs a process 12 MiB more. The agent keeps connections;
 * a watch has one for itself.
 */
export function createHttpTransport(access: ClusterAccess): Transport {
  const agentFor = rememberAgent(access);

  const send = async (request: TransportRequest): Promise<http.IncomingMessage> => {
    for (;;) {
      const credentials = await access.credentials();
      const { response, failure, reused } = await exchange(access, agentFor(credentials), credentials, request);
      if (response) return response;
      // A kept connection that the server had closed says nothing about the server. The next round takes another one, and
      // in the end a new one.
      if (reused && isRepeatable(request) && !request.signal.aborted) continue;
      throw failure;
    }
  };

  return async (request) => {
    const response = await send(request);
    if (response.statusCode !== 401) return describe(response);
    // The token may have been rotated since it was read.
    response.resume();
    access.forgetCredentials();
    return describe(await send(request));
  };
}

/** One agent as long as the TLS material stays the same; connections made with older material serve out their requests. */
function rememberAgent(access: ClusterAccess): (credentials: Credentials) => http.Agent {
  const plain = access.server.protocol === 'http:';
  let agent: http.Agent | undefined;
  let made: Credentials = {};
  return (credentials) => {
    const { ca, cert, key } = credentials;
    if (agent && ca === made.ca && cert === made.cert && key === made.key) return agent;
    made = credentials;
    const options: https.AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: TCP_PROBE_AFTER_MS,
      ...(access.proxyUrl && { proxyEnv: { HTTP_PROXY: access.proxyUrl, HTTPS_PROXY: access.proxyUrl } }),
      ...(!plain && {
        ca,
        cert,
        key,
        servername: access.tlsServerName,
        rejectUnauthorized: !access.insecureSkipTlsVerify,
      }),
    };
    agent = plain ? new http.Agent(options) : new https.Agent(options);
    return agent;
  };
}

function exchange(
  access: ClusterAccess,
  agent: http.Agent,
  { authorization }: Credentials,
  { method, path, contentType, body, signal }: TransportRequest,
): Promise<Exchange> {
  const { server } = access;
  const headers = {
    accept: JSON_TYPE,
    'user-agent': 'valkey-operator',
    ...(authorization && { authorization }),
    ...(body !== undefined && { 'content-type': contentType ?? JSON_TYPE, 'content-length': Buffer.byteLength(body) }),
  };
  const { request } = server.protocol === 'http:' ? http : https;
  const url = new URL(`${server.pathname.replace(/\/$/, '')}${path}`, server);
  // Whoever gives up on one connection (a deadline, a silent watch) has reason to doubt the idle ones to the same peer.
  signal.addEventListener('abort', () => closeIdle(agent), { once: true });
  return new Promise((resolve) => {
    const outgoing = request(url, { method, agent, signal, headers });
    outgoing.once('response', (response) => resolve({ response, reused: outgoing.reusedSocket }));
    outgoing.on('error', (failure) => resolve({ failure, reused: outgoing.reusedSocket }));
    outgoing.end(body);
  });
}

function closeIdle(agent: http.Agent): void {
  for (const sockets of Object.values(agent.freeSockets)) sockets?.forEach((socket) => socket.destroy());
}

/** Whether sending it twice does what sending it once does. */
function isRepeatable(request: TransportRequest): boolean {
  return request.method === 'GET' || request.contentType === APPLY_PATCH_TYPE;
}

function describe(response: http.IncomingMessage): TransportResponse {
  const seconds = Number(response.headers['retry-after']);
  return {
    status: response.statusCode ?? 0,
    retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
    body: response,
  };
}
