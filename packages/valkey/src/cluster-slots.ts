import { expectArray, expectInteger, expectText, type RespValue } from './resp/value.ts';
import { SlotSet } from './slots/slot-set.ts';

export interface NodeAddress {
  /** Empty when the node does not know: then it is the host that was asked. */
  readonly host: string;
  readonly port: number;
}

export interface SlotOwner extends NodeAddress {
  readonly id: string;
}

/** A range of slots as a client sees it. */
export interface SlotRoute {
  readonly slots: SlotSet;
  readonly primary: SlotOwner;
  readonly replicas: readonly SlotOwner[];
}

/** Reads CLUSTER SLOTS. Extra fields that newer versions add to a node are of no use for routing. */
export function parseClusterSlots(reply: RespValue): SlotRoute[] {
  return expectArray(reply).map((entry) => {
    const [first, last, primary, ...replicas] = expectArray(entry);
    return {
      slots: SlotSet.of([[expectInteger(first), expectInteger(last)]]),
      primary: parseOwner(primary),
      replicas: replicas.map(parseOwner),
    };
  });
}

function parseOwner(reply: RespValue | undefined): SlotOwner {
  const [host, port, id] = expectArray(reply);
  return {
    host: host === null || host === '?' ? '' : expectText(host),
    port: expectInteger(port),
    id: expectText(id),
  };
}
