import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Plain `kubectl`, as a person would call it. */
export async function kubectl(...args: string[]): Promise<string> {
  return (await run('kubectl', args)).stdout;
}

interface Answer {
  readonly ok: boolean;
  /** What the API server has against it, one line per field. */
  readonly complaints: string[];
  readonly object: { readonly metadata?: { readonly resourceVersion?: string } };
}

/** The API server behind `kubectl proxy`: a hundred questions take as long as two or three calls of kubectl would. */
export class ApiServer implements AsyncDisposable {
  readonly #proxy = spawn('kubectl', ['proxy', '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  #address = '';

  static async open(): Promise<ApiServer> {
    const server = new ApiServer();
    const [line] = (await once(createInterface(server.#proxy.stdout), 'line')) as [string];
    server.#address = line.replace('Starting to serve on ', 'http://');
    return server;
  }

  async send(method: 'POST' | 'PUT' | 'DELETE', path: string, body = ''): Promise<Answer> {
    const headers = { 'content-type': 'application/yaml', accept: 'application/json' };
    const response = await fetch(`${this.#address}${path}`, { method, headers, ...(body && { body }) });
    const answer = (await response.json()) as Status & Answer['object'];
    return { ok: response.ok, complaints: response.ok ? [] : complaintsOf(answer), object: answer };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#proxy.kill();
    await once(this.#proxy, 'close');
  }
}

interface Status {
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field: string; readonly message: string }[] };
}

/** Without the API server's note that CEL rules wait for an otherwise valid object. */
function complaintsOf({ message = '', details }: Status): string[] {
  const causes = details?.causes ?? [];
  if (causes.length === 0) return [message.replace(/^.*strict decoding error: /, '')];
  const said = causes.filter((cause) => !cause.message.includes('some validation rules were not checked'));
  return said.map((cause) => `${cause.field}: ${cause.message}`).toSorted();
}
