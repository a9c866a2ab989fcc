import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';
import { SESSION_ENDS } from './words.ts';

export const MemberRegistered = defineEvent('MemberRegistered', {
  summary: 'A member registered.',

  data: z.strictObject({ handle_hash: z.string(), handle_key_id: z.int() }),
  personal: z.strictObject({ handle: z.string() }),
});

export const MemberRecovered = defineEvent('MemberRecovered', {
  summary: 'The member replaced both keys, which ended every session, credential and passkey.',

  data: z.strictObject({ operation_id: z.uuid() }),
});

export const MemberDeactivated = defineEvent('MemberDeactivated', {
  summary:
    'The member closed the account. `in_batches`: events of the records follow; without it this event ended the records itself.',

  data: z.strictObject({ erase_notes: z.boolean(), in_batches: z.literal(true).optional() }),
});

export const MemberErased = defineEvent('MemberErased', {
  summary: 'The member’s name and texts were erased, except those that stay public.',
  data: z.strictObject({}),
});

export const SessionStarted = defineEvent('SessionStarted', {
  summary: 'The member signed in.',

  data: z.strictObject({ session_id: z.uuid(), expires_at: z.iso.datetime() }),
});

export const SessionEnded = defineEvent('SessionEnded', {
  summary: 'The session ended.',

  data: z.strictObject({
    session_id: z.uuid(),
    reason: z.enum(SESSION_ENDS),
  }),
});
