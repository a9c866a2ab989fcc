import { PUBLIC } from '../resources.ts';
import type { Case, ReviewRequest } from '../schema.ts';
import { ProblemError } from '../send.ts';
import { type Command, type Commands, pageOf, textOf, wholeNumber } from './command.ts';
import { type Context, UsageError } from './context.ts';
import { holdWhile } from './hold.ts';
import { oneLine } from './terminal.ts';

const line = ({ id, state, version, title }: Case) =>
  oneLine(`${id} ${state} v${version} ${title}`);

/** A command on a case, which reads the present version first. */
function onCase<Body extends { expected_version: number }>(
  context: Context,
  what: string,
  [id = '', ...more]: readonly unknown[],
  rest: Omit<Body, 'expected_version'>,
  send: 'claim' | 'release' | 'submit' | 'review' | 'withdraw',
) {
  const { cases } = context.client();
  const caseId = String(id);
  return context.write(
    [what, caseId, ...more],
    async () => ({ ...rest, expected_version: (await cases.get(caseId)).case.version }),
    (body, options) => cases[send](caseId, body as never, options),
  );
}

/** How often a command is sent that asks the same at every version of a case. */
const MOST_VERSIONS = 10;

/** A command that asks the same also where the case changes meanwhile, as by a lease that is being extended. */
const simple = (what: 'release' | 'withdraw', summary: string): Command => ({
  args: ['ID'],
  summary,
  example: `svc case ${what} 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11`,
  async run(context, { args: [id = ''] }) {
    for (let left = MOST_VERSIONS; ; left -= 1) {
      try {
        const reply = await onCase(context, what, [id], {}, what);
        return context.print(reply, line(reply.case));
      } catch (error) {
        const hasChanged = error instanceof ProblemError && error.reason === 'version_mismatch';
        if (!hasChanged || left === 1) throw error;
      }
    }
  },
});

export const CASE_COMMANDS: Commands = {
  'case open': {
    options: {
      title: { type: 'string' },
      summary: { type: 'string' },
      objective: { type: 'string' },
      criterion: { type: 'string', multiple: true },
      packet: { type: 'string' },
    },
    summary: 'Opens a case, which everybody can read. Give --criterion once for each criterion.',
    example:
      "svc case open --title 'Check the index' --summary 'Is it complete?' --objective 'Name what is missing' --criterion 'A list'",
    async run(context, given) {
      const body = {
        title: textOf(given, 'title'),
        summary: textOf(given, 'summary'),
        objective: textOf(given, 'objective'),
        acceptance_criteria: [...given.list('criterion')],
        artifact_id: given.text('packet') ?? null,
        ...PUBLIC,
      };
      if (body.acceptance_criteria.length === 0) throw new UsageError('--criterion is missing.');
      const reply = await context.write(
        ['case open', body],
        async () => body,
        (sent, options) => context.client().cases.open(sent, options),
      );
      context.print(reply, line(reply.case));
    },
  },
  'case list': {
    options: {
      state: { type: 'string' },
      mine: { type: 'boolean' },
      role: { type: 'string' },
      limit: { type: 'string' },
    },
    summary:
      'Lists cases, newest first; with --mine those of the member, by --role author or claimant.',
    example: 'svc case list --state open --limit 10',
    async run(context, given) {
      const limit = wholeNumber(given, 'limit', 1, 1000, 20);
      const page = Math.min(limit, 100);
      const list = given.flag('mine')
        ? context.client().cases.mine({ limit: page, role: given.text('role') as 'author' })
        : context.reader().cases.list({ limit: page, state: given.text('state') as 'open' });
      for (const one of await pageOf(list, limit)) context.print(one, line(one));
    },
  },
  'case show': {
    args: ['ID'],
    summary: 'Shows a case with its submissions, reviews and notes.',
    example: 'svc case show 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11',
    async run(context, { args: [id = ''] }) {
      const reply = await context.reader().cases.get(id);
      const { case: found, submissions, reviews, notes } = reply;
      const text = [
        line(found),
        found.objective,
        ...found.acceptance_criteria.map((criterion) => `- ${criterion}`),
        ...submissions.map((one) => `submission ${one.member_id}: ${one.summary ?? '(erased)'}`),
        ...reviews.map((one) => `review ${one.decision}: ${one.comment ?? '(erased)'}`),
        ...notes.map((one) => `note ${one.member_id}: ${one.message}`),
      ].map((part) => part.replaceAll('\n', '\n    '));
      context.print(reply, text.join('\n'));
    },
  },
  'case claim': {
    args: ['ID'],
    options: {
      lease: { type: 'string' },
      hold: { type: 'boolean' },
      'extend-every': { type: 'string' },
    },
    takesCommand: true,
    summary:
      'Claims a case. With --hold -- COMMAND, runs the command and extends the lease until it ends; a failure gives the case back.',
    example: 'svc case claim 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11 --hold -- make index',
    async run(context, given) {
      const [id = ''] = given.args;
      const leaseSeconds = wholeNumber(given, 'lease', 300, 86_400, 900);
      const extendEvery = wholeNumber(
        given,
        'extend-every',
        1,
        86_400,
        Math.floor(leaseSeconds / 3),
      );
      if (given.flag('hold') !== given.rest.length > 0)
        throw new UsageError('--hold and -- COMMAND go together.');
      const reply = await onCase(
        context,
        'claim',
        [id, leaseSeconds],
        { lease_seconds: leaseSeconds },
        'claim',
      );
      if (!given.flag('hold')) return context.print(reply, line(reply.case));
      const lease = { leaseSeconds, extendEvery };
      return holdWhile(context.client(), reply.case, lease, given.rest);
    },
  },
  'case submit': {
    args: ['ID', 'SUMMARY'],
    options: { packet: { type: 'string' } },
    summary:
      'Submits work to a case that you have claimed. --packet is the id of a context packet with the work.',
    example: "svc case submit 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11 'Nothing is missing'",
    async run(context, given) {
      const [id, summary = ''] = given.args;
      const artifact_id = given.text('packet') ?? null;
      const rest = { summary, artifact_id, ...PUBLIC };
      const reply = await onCase(context, 'submit', [id, summary, artifact_id], rest, 'submit');
      context.print(reply, line(reply.case));
    },
  },
  'case review': {
    args: ['ID', 'DECISION', 'COMMENT'],
    summary:
      "Reviews a submission: accept, request_changes or reject. The author's review decides.",
    example: "svc case review 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11 accept 'Thank you'",
    async run(context, { args: [id, decision, comment = ''] }) {
      const rest = { decision: decision as ReviewRequest['decision'], comment, ...PUBLIC };
      const reply = await onCase(context, 'review', [id, decision, comment], rest, 'review');
      context.print(reply, line(reply.case));
    },
  },
  'case note': {
    args: ['ID', 'MESSAGE'],
    summary: 'Adds a note to a case.',
    example: "svc case note 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11 'Start with the oldest entry'",
    async run(context, { args: [id = '', message = ''] }) {
      const reply = await context.write(
        ['case note', id, message],
        async () => ({ message, ...PUBLIC }),
        (body, options) => context.client().cases.note(id, body, options),
      );
      context.print(reply, line(reply.case));
    },
  },
  'case release': simple('release', 'Gives a claimed case back.'),
  'case withdraw': simple('withdraw', 'Withdraws an open case of your own.'),
};
