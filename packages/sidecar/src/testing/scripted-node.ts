import { ValkeyError, type RespValue } from '@valkey-operator/valkey';
import type { ValkeyFacts } from '../valkey-facts.ts';
import { aView, someFacts, type FactsChange } from './valkey-facts.ts';

/** Stands in for a Valkey: notes the commands it gets, and a script says what each changes in what it shows next. */
export class ScriptedNode {
  readonly commands: string[] = [];
  readonly view = aView();
  #shown: FactsChange;
  readonly #script: (command: string, node: ScriptedNode) => RespValue | undefined;

  constructor(
    shown: FactsChange,
    script: (command: string, node: ScriptedNode) => RespValue | undefined = () => undefined,
  ) {
    this.#shown = shown;
    this.#script = script;
  }

  show(change: FactsChange): void {
    this.#shown = { ...this.#shown, ...change };
  }

  readonly call = async (...args: string[]): Promise<RespValue> => {
    const command = args.join(' ');
    this.commands.push(command);
    const reply = this.#script(command, this);
    if (reply instanceof ValkeyError) throw reply;
    return reply ?? 'OK';
  };

  readonly refresh = async (): Promise<ValkeyFacts> => someFacts(this.#shown);
}
