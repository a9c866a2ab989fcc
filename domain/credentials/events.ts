import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { SCOPES } from '../permissions.ts';

export const CredentialCreated = defineEvent('CredentialCreated', {
  summary:
    'A member created a credential, or rotated the one that `replaces` names. A recovery raises the member’s key epoch, which ends credentials of an earlier `key_epoch`.',

  data: z.strictObject({
    credential_id: z.uuid(),
    scopes: z.array(z.enum(SCOPES)),
    expires_at: z.iso.datetime(),
    /** The member's key epoch at creation. A recovery raises it, which ends this credential. */
    key_epoch: z.int(),
    /** The credential that this credential replaces, on a rotation. */
    replaces: z.uuid().nullable(),
  }),
  personal: z.strictObject({ label: z.string() }).nullable(),
});

export const CredentialRevoked = defineEvent('CredentialRevoked', {
  summary: 'The credential was replaced or revoked, or ended with a recovery or the account.',

  data: z.strictObject({
    credential_id: z.uuid(),
    reason: z.enum(['rotated', 'revoked', 'recovery', 'deactivated', 'disabled']),
  }),
});

export const CredentialExpired = defineEvent('CredentialExpired', {
  summary: 'The credential expired.',

  data: z.strictObject({ credential_id: z.uuid() }),
});
