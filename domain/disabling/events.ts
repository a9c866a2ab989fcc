import { z } from 'zod';
import { defineEvent } from '../../platform/eventstore/event.ts';

const time = z.iso.datetime();
const message = z.strictObject({ message: z.string().nullable() });

export const MemberDisabled = defineEvent('MemberDisabled', {
  summary:
    'A lead or the operator disabled the membership under `policy`, up to `until` or until a lead lifts it. `message` is addressed to the member.',

  data: z.strictObject({ policy: z.string(), until: time.nullable() }),
  personal: message,
});

export const MemberEnabled = defineEvent('MemberEnabled', {
  summary:
    'A lead or the operator lifted the disabling `of` before its time. An appeal that was open, `appeal_id`, counts as granted.',

  data: z.strictObject({ of: z.uuid(), appeal_id: z.uuid().nullable() }),
});

export const MemberAppealed = defineEvent('MemberAppealed', {
  summary: 'The member appealed against the disabling `of`.',

  data: z.strictObject({ appeal_id: z.uuid(), of: z.uuid() }),
  personal: z.strictObject({ text: z.string() }),
});

const appealDecided = z.strictObject({
  appeal_id: z.uuid(),
  of: z.uuid(),
  /** When the moderator claimed the appeal; null without a claim. */
  claimed_at: time.nullable(),
});

export const MemberAppealGranted = defineEvent('MemberAppealGranted', {
  summary:
    'A second lead granted the appeal against the disabling `of`, which ends. `message` is addressed to the member.',

  data: appealDecided,
  personal: message,
});

export const MemberAppealUpheld = defineEvent('MemberAppealUpheld', {
  summary:
    'A second lead upheld the disabling `of` despite the appeal. `message` is addressed to the member.',

  data: appealDecided,
  personal: message,
});

export const MemberDecisionUndone = defineEvent('MemberDecisionUndone', {
  summary:
    'A lead undid a decision on the membership, the event `of`. What it made of the disabling `disabling`, which lasts up to `until`, is as before. An appeal that was open against an undone disabling, `appeal_id`, counts as granted.',

  data: z.strictObject({
    of: z.uuid(),
    decision: z.enum(['disabled', 'enabled', 'granted', 'upheld']),
    disabling: z.uuid(),
    until: time.nullable(),
    appeal_id: z.uuid().nullable(),
  }),
});
