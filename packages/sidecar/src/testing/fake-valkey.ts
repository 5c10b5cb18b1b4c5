import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeReply, expectArray, expectText, RespDecoder, type RespValue } from '@valkey-operator/valkey';

/** Speaks RESP on a unix socket and knows no data: for what happens to the connection, not for what Valkey would say. */
export class FakeValkey {
  readonly path: string;
  /** Undefined: it keeps silent. */
  answer: (command: string) => RespValue | undefined;
  readonly #directory = mkdtempSync(join(tmpdir(), 'sidecar-fake-valkey-'));
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  constructor(answer: (command: string) => RespValue | undefined) {
    this.path = join(this.#directory, 'valkey.sock');
    this.answer = answer;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.listen(this.path, resolve);
    return promise;
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** As the kernel does it when the process is killed: first nobody listens, then the connections end. */
  async kill(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.dropConnections();
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #serve(socket: Socket): void {
    const decoder = new RespDecoder();
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      decoder.push(chunk);
      for (let command = decoder.read(); command !== undefined; command = decoder.read()) {
        const words = expectArray(command).map(expectText).join(' ');
        const reply = words.startsWith('HELLO') ? new Map([['proto', 3]]) : this.answer(words);
        if (reply !== undefined && !socket.destroyed) socket.write(encodeReply(reply));
      }
    });
  }
}
