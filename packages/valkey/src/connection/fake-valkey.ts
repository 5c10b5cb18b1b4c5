import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RespDecoder } from '../resp/decoder.ts';
import { encodeReply } from '../resp/encoder.ts';
import { expectArray, expectText, type RespValue } from '../resp/value.ts';

/** What to say to a command: a reply, or undefined for silence; `socket` is there for what a server does besides. */
export type Answer = (command: string[], socket: Socket) => RespValue | undefined;

/** Speaks RESP on a unix socket, to test how the transport behaves. It knows no data: what Valkey answers is recorded. */
export class FakeValkey {
  readonly path: string;
  readonly commands: string[][] = [];
  /** Chunks as they came in: how often the client wrote. */
  chunkCount = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #directory: string;

  private constructor(answer: Answer, greet: Answer) {
    this.#directory = mkdtempSync(join(tmpdir(), 'fake-valkey-'));
    this.path = join(this.#directory, 'valkey.sock');
    this.#server = createServer((socket) => this.#serve(socket, ([command]) => (command === 'HELLO' ? greet : answer)));
  }

  static async start(answer: Answer, greet: Answer = () => new Map([['proto', 3]])): Promise<FakeValkey> {
    const fake = new FakeValkey(answer, greet);
    const { promise, resolve } = Promise.withResolvers<void>();
    fake.#server.listen(fake.path, resolve);
    await promise;
    return fake;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.dropConnections();
    await promise;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #serve(socket: Socket, choose: (command: string[]) => Answer): void {
    const decoder = new RespDecoder();
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      this.chunkCount += 1;
      decoder.push(chunk);
      for (let command = decoder.read(); command !== undefined; command = decoder.read()) {
        const words = expectArray(command).map(expectText);
        this.commands.push(words);
        const reply = choose(words)(words, socket);
        if (reply !== undefined && !socket.destroyed) socket.write(encodeReply(reply));
      }
    });
  }
}
