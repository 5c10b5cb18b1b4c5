import { FailureReason } from '@valkey-operator/rpc';
import { failed } from '@valkey-operator/rpc/sidecar';
import type { SettingsInEffect } from '../settings-in-effect.ts';
import { handler } from './effect.ts';

export const setConfig = (settings: Pick<SettingsInEffect, 'put'>) =>
  handler<'setConfig'>(async ({ values, configHash }) => {
    const refusal = await settings.put({ hash: configHash, settings: values });
    return refusal === undefined ? undefined : failed(FailureReason.VALKEY_ERROR, refusal);
  });
