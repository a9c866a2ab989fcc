import { z } from 'zod';
import { LEADS, READERS } from '../../../domain/moderation/roles.ts';
import { defineContract } from '../../../platform/http/route.ts';
import { Cursor, Limit, NextPage, Text } from '../../../platform/http/schemas.ts';

export const PolicyCode = z
  .string()
  .regex(/^[a-z][a-z0-9_]{1,39}$/, 'must be 2 to 40 of a-z, 0-9 and _, starting with a letter')
  .meta({ examples: ['off_topic'] });

const Policy = z
  .object({
    code: z.string(),
    title: z.string(),
    text: z.string().meta({ description: 'Shown to the public and to the author' }),
    active: z.boolean().meta({ description: 'A rejection or a removal may name it' }),
    messages: z.array(z.string()).meta({ description: 'Prepared messages to authors' }),
    version: z.int().min(1),
  })
  .meta({ id: 'Policy' });

const PolicyChange = z
  .strictObject({
    code: PolicyCode,
    title: Text(1, 80),
    text: Text(1, 1000),
    active: z.boolean(),
    messages: z.array(Text(1, 500)).max(3).describe('Absent: stays as it is').optional(),
    expected_version: z.int().min(0).optional(),
  })
  .meta({ id: 'PolicyChange' });

const PolicyList = z
  .object({ status: z.literal('ok'), policies: z.array(Policy) })
  .meta({ id: 'PolicyList' });

const PolicyReply = z
  .object({ status: z.literal('saved'), policy: Policy })
  .meta({ id: 'PolicyReply' });

const Outcomes = {
  refused: z.int().meta({ description: 'Rejected or removed now' }),
  public: z.int(),
  undecided: z.int().meta({ description: 'Pending or withdrawn' }),
};

const Judgement = z
  .object({
    likely_spam: z.object(Outcomes).meta({ description: 'Notes in this band' }),
    look: z.object(Outcomes).meta({ description: 'Notes in this band' }),
    clear: z.object(Outcomes).meta({ description: 'Notes in this band' }),
    waited_seconds: z
      .number()
      .meta({ description: 'From submission to decision, of refused notes in `likely_spam`' }),
    handled_seconds: z
      .number()
      .meta({ description: 'From claim to decision, of refused notes in `likely_spam`' }),
    restored: z.int().meta({
      description: 'Public notes in `likely_spam` that an appeal restored after a refusal',
    }),
  })
  .meta({ id: 'RulesJudgement', description: 'What became of the notes of each band' });

const RulesBacktest = z
  .object({
    status: z.literal('ok'),
    notes: z.int(),
    recorded: Judgement.meta({ description: 'The bands when the notes were screened' }),
    judged: Judgement.meta({ description: 'The bands by the rules of this release' }),
    findings: z.array(
      z.object({
        code: z.string(),
        ...Outcomes,
        lost: z.int().meta({ description: 'Recorded, and not found by these rules' }),
        gained: z.int().meta({ description: 'Not recorded, and found by these rules' }),
      }),
    ),
    ...NextPage,
  })
  .meta({ id: 'RulesBacktest' });
export type RulesBacktest = z.input<typeof RulesBacktest>;

export const policiesContract = defineContract({
  'moderation.policies': {
    method: 'GET',
    path: '/api/moderation/policies',
    summary: 'The policies that a rejection or a removal may name, also those out of force',
    tag: 'moderation',
    access: { roles: READERS },
    replies: {
      200: {
        description: 'Every policy, in the order of the keys of the console',
        body: PolicyList,
      },
    },
    problems: ['moderator_required'],
  },
  'moderation.backtest': {
    method: 'GET',
    path: '/api/moderation/policies/backtest',
    summary: 'What the rules of this release make of notes that were screened, in counts',
    description:
      'Judges at most `limit` notes, in the order of their ids. The figures of all pages add up to ' +
      'those of the whole.',
    tag: 'views',
    access: { roles: READERS },
    query: z.object({ cursor: Cursor.optional(), limit: Limit }),
    replies: { 200: { description: 'The figures of these notes', body: RulesBacktest } },
    problems: ['moderator_required', 'invalid_cursor'],
  },
  'moderation.change_policy': {
    method: 'PUT',
    path: '/api/moderation/policies',
    summary: 'Add a policy, change its words, or put it in or out of force',
    description:
      'By its code, as a whole: the same again changes nothing. With `expected_version` (0: the ' +
      'policy must be new) it is refused where somebody changed it since it was read.',
    tag: 'moderation',
    access: { roles: LEADS },
    body: PolicyChange,
    replies: {
      200: {
        description: 'The current policy',
        body: PolicyReply,
      },
    },
    problems: ['moderator_required', 'role_required', 'state_conflict'],
  },
});
