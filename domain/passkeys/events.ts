import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { PASSKEY_ENDS } from './words.ts';

export const PasskeyAdded = defineEvent('PasskeyAdded', {
  summary:
    'The member added a passkey, a further way to open a session. Its public key and its name are not in the log.',

  data: z.strictObject({ passkey_id: z.uuid() }),
});

export const PasskeyRemoved = defineEvent('PasskeyRemoved', {
  summary: 'The passkey ended: removed by the member, or with the keys or the membership.',

  data: z.strictObject({ passkey_id: z.uuid(), reason: z.enum(PASSKEY_ENDS) }),
});
