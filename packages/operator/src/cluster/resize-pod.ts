import { annotations } from '@valkey-operator/api';
import { type Action, parseParts } from '@valkey-operator/core';
import { isKubeError, type KubeClient, pods } from '@valkey-operator/kube';

/** It becomes a part of an event. */
const MAX_WORDS = 512;

/**
 * Gives a pod other resources while it runs, and has it say so. Where the API server does not offer that, or not for this
 * change, the pod says that: it will be replaced.
 */
export async function resizePod(
  client: KubeClient,
  namespace: string,
  { pod, uid, resources, template }: Extract<Action, { type: 'ResizePod' }>,
): Promise<void> {
  const ref = { namespace, name: pod };
  const note = (text: Record<string, string>) =>
    client.mergePatch(pods, ref, { metadata: { uid, annotations: text } }).catch((error: unknown) => {
      // Another pod of that name is not the one that was meant.
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    });
  try {
    const patch = [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path: '/spec/containers/0/name', value: 'valkey' },
      { op: 'replace', path: '/spec/containers/0/resources', value: resources },
    ] as const;
    await client.jsonPatch(pods, ref, [...patch], { subresource: 'resize' });
  } catch (error) {
    if (!isKubeError(error, 'Invalid', 'Forbidden', 'NotFound')) throw error;
    const said = error.message.slice(0, MAX_WORDS).replace(/\.$/, '');
    await note({ [annotations.resizeRefused]: `${parseParts(template)['resources']} ${said}` });
    return;
  }
  await note({ [annotations.template]: template });
}
