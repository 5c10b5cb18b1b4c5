import { planRotation, readCertificate } from '@valkey-operator/pki/verify';
import type { CredentialHolder } from '@valkey-operator/rpc/operator';
import type { Authorities } from './authorities.ts';
import type { Logger } from '../log.ts';

const ROTATE_BEFORE_PERCENT = 66;
const RETRY_MS = 30_000;

/** Replace the operator's own certificate in good time. Streams that are open keep the one they began with (E3, E5). */
export function keepCredentialsFresh(
  credentials: CredentialHolder,
  authorities: Pick<Authorities, 'issueOperatorCredentials'>,
  log: Logger,
  signal: AbortSignal,
): void {
  let timer: NodeJS.Timeout;
  const schedule = (): void => {
    const life = readCertificate(credentials.current().certificate);
    const { rotateAt } = planRotation(life, { rotateBeforePercent: ROTATE_BEFORE_PERCENT }, 'operator', new Date());
    timer = setTimeout(rotate, Math.max(RETRY_MS, rotateAt.getTime() - Date.now())).unref();
  };
  const rotate = (): void => {
    authorities
      .issueOperatorCredentials()
      .then((fresh) => {
        credentials.publish(fresh);
        log.info({ reason: 'CertificateRotated' }, 'own certificate rotated');
      })
      .catch((error: unknown) => log.error({ error: String(error) }, 'own certificate not rotated'))
      .finally(schedule);
  };
  schedule();
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
}
