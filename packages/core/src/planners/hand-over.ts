import { type Decision, order } from '../decision.ts';
import type { Member } from '../topology.ts';

/** In agreement with the old primary, so no write is lost; the guard is what the heir must still be. */
export function orderHandover(primary: Member, heir: Member, message: string): Decision {
  const guard = { role: 'replica', primaryId: primary.id, linkUp: true } as const;
  const action = order(heir, { do: 'failover', mode: 'coordinated' }, 'PrimaryHandedOver', guard);
  return {
    reason: 'PrimaryHandedOver',
    message,
    disruptive: true,
    stages: [[action]],
    events: [{ reason: 'PrimaryHandedOver', message }],
  };
}
