import { announcedSettings } from '../announced.ts';
import { buildSettings, type NodeSettings, settingsInEffect } from '../builders/settings.ts';
import { childNames } from '../builders/names.ts';
import type { Decision, PlanView } from '../decision.ts';

/**
 * Neither the ConfigMap nor the detail says what the nodes have accepted. What the spec asks for may have been refused, so it
 * is kept for the next start only when every node that serves says that it runs with just that.
 */
export function recoverSettings({ snapshot }: PlanView): NodeSettings | undefined {
  const asked = buildSettings(snapshot.spec, announcedSettings(snapshot));
  const isAccepted = snapshot.pods.every(({ ready, report }) => !ready || report?.config.runningHash === asked.hash);
  return isAccepted ? asked : undefined;
}

/** A person has to say what the settings are; no pod can start before. */
export function planLostSettings(view: PlanView): Decision | undefined {
  const { snapshot, topology } = view;
  if (!topology.formed || settingsInEffect(snapshot) || recoverSettings(view)) return undefined;
  const { configMap } = childNames(snapshot.cluster.metadata.name);
  const message = `ConfigMap ${configMap} does not hold the settings that the nodes have accepted, the record of them in ValkeyClusterStatus is gone too, and not every node says that it runs with those of the spec: they are not written, for a node may have refused them. Bring back the ConfigMap, or set spec.config to what it was.`;
  return { kind: 'Reconfigure', reason: 'ConfigRejected', message, held: true };
}
