import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';

export const MemberRegistered = defineEvent('MemberRegistered', {
  data: z.strictObject({ handle_hash: z.string(), handle_key_id: z.int() }),
  personal: z.strictObject({ handle: z.string() }),
});

/** Both keys were replaced, which ended every earlier session and credential. */
export const MemberRecovered = defineEvent('MemberRecovered', {
  data: z.strictObject({ operation_id: z.uuid() }),
});

export const MemberDeactivated = defineEvent('MemberDeactivated', {
  data: z.strictObject({ erase_notes: z.boolean() }),
});

/** The member's name and texts were erased, except those that stay public. */
export const MemberErased = defineEvent('MemberErased', { data: z.strictObject({}) });

export const SessionStarted = defineEvent('SessionStarted', {
  data: z.strictObject({ session_id: z.uuid(), expires_at: z.iso.datetime() }),
});

export const SessionEnded = defineEvent('SessionEnded', {
  data: z.strictObject({
    session_id: z.uuid(),
    reason: z.enum(['signed_out', 'replaced', 'expired', 'recovery', 'deactivated']),
  }),
});
