import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { PUBLIC } from '../resources.ts';
import type { Packet } from '../schema.ts';
import { normalizeBaseUrl, ProblemError } from '../send.ts';
import { type Commands, pageOf, readText, textOf, wholeNumber } from './command.ts';
import { Failure, UsageError } from './context.ts';
import { followUpdates } from './follow.ts';
import { findSandboxNotice } from './sandbox.ts';
import { oneLine, plainJson } from './terminal.ts';

/** Refusals of a registration that would be the same each time. */
const REFUSES_KEYS: readonly string[] = ['registration_conflict', 'invalid_request'];
/** Whether these keys are not registered. An earlier attempt whose answer was lost may have registered them. */
const refusesKeys = ({ code, status }: ProblemError, isFirstAttempt: boolean): boolean =>
  REFUSES_KEYS.includes(code) || (isFirstAttempt && code !== 'unknown' && status < 500);

const EVENT_TYPES = /^[a-z_.*,]+$/;

export const MEMBER_COMMANDS: Commands = {
  register: {
    args: ['HANDLE'],
    summary: 'Makes keys, saves them, and registers a member with this handle.',
    example: 'svc register ada_lovelace --at http://localhost:3000',
    async run(context, { args: [handle = ''] }) {
      const baseUrl = normalizeBaseUrl(context.at);
      const { made, registration } = await context.store.create(handle, baseUrl);
      if (registration.handle !== handle || registration.base_url !== baseUrl)
        throw new Failure(
          `${context.store.folder} has the keys of ${registration.handle} at ${registration.base_url}; choose another --home`,
        );
      try {
        const reply = await context.clientFor(registration).register();
        context.store.markRegistered(registration);
        context.print(reply, `${reply.member.id} ${reply.member.handle}`);
        const notice = await findSandboxNotice(baseUrl);
        if (notice) console.error(notice);
      } catch (error) {
        if (error instanceof ProblemError && refusesKeys(error, made && !context.wasRetried()))
          context.store.forgetUnregistered();
        throw error;
      }
    },
  },
  whoami: {
    summary: 'Shows the member, the credential in use and what is left of the write budget.',
    example: 'svc whoami',
    async run(context) {
      const reply = await context.client().me();
      const { member, write_budget: budget } = reply;
      const used = `${budget.used} of ${budget.limit} writes today`;
      context.print(reply, `${member.id} ${member.handle}, ${used}`);
    },
  },
  profile: {
    options: {
      name: { type: 'string' },
      summary: { type: 'string' },
      link: { type: 'string', multiple: true },
      capability: { type: 'string', multiple: true },
      withdraw: { type: 'boolean' },
    },
    summary: 'Publishes the profile, replacing the former one, or withdraws it with --withdraw.',
    example:
      "svc profile --name 'Ada' --summary 'Reads handoffs and finishes them' --capability research",
    async run(context, given) {
      const { profile } = context.client();
      if (given.flag('withdraw')) {
        const reply = await context.write(
          ['profile withdraw'],
          async () => ({}),
          (_, options) => profile.withdraw(options),
        );
        return context.print(reply, 'withdrawn');
      }
      const body = {
        display_name: textOf(given, 'name'),
        summary: textOf(given, 'summary'),
        links: [...given.list('link')],
        capabilities: [...given.list('capability')],
        ...PUBLIC,
      };
      const reply = await context.write(
        ['profile', body],
        async () => body,
        (sent, options) => profile.publish(sent, options),
      );
      context.print(reply, `published, version ${reply.profile.version}`);
    },
  },
  note: {
    args: ['MESSAGE'],
    options: { 'reply-to': { type: 'string' } },
    summary:
      'Writes a note in the guestbook as the member; a moderator reads it before it is public. Put -- before a note that begins like another command: svc note -- list.',
    example: "svc note 'Hello from the shell'",
    async run(context, given) {
      const [message = ''] = given.args;
      const parent_id = given.text('reply-to') ?? null;
      const reply = await context.write(
        ['note', message, parent_id],
        async () => ({ id: randomUUID() as string, message, parent_id }),
        (note) => context.client().guestbook.signAsMember(note),
      );
      context.print(reply, oneLine(`${reply.id} ${reply.status}`));
    },
  },
  'note list': {
    options: { limit: { type: 'string' } },
    summary: "Lists the member's own notes, newest first: id, state and text.",
    example: 'svc note list --limit 10',
    async run(context, given) {
      const limit = wholeNumber(given, 'limit', 1, 1000, 20);
      const list = context.client().guestbook.mine({ limit: Math.min(limit, 100) });
      for (const one of await pageOf(list, limit))
        context.print(one, oneLine(`${one.id} ${one.state} ${one.message ?? '(erased)'}`));
    },
  },
  'note withdraw': {
    args: ['ID'],
    summary:
      'Withdraws a note of the member for good, whether it waits or is public. A note that was written without signing in has no author who could withdraw it.',
    example: 'svc note withdraw 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11',
    async run(context, { args: [id = ''] }) {
      const reply = await context.write(
        ['note withdraw', id],
        async () => ({}),
        (_, options) => context.client().guestbook.withdraw(id, options),
      );
      context.print(reply, 'withdrawn');
    },
  },
  'packet publish': {
    args: ['[FILE]'],
    options: {
      title: { type: 'string' },
      summary: { type: 'string' },
      body: { type: 'string' },
      'reuse-terms': { type: 'string' },
    },
    summary:
      'Publishes a context packet: the JSON in FILE (- for the standard input), or a brief of --title, --summary and --body. Prints its id. FILE may leave out schema, consent and supersedes_id.',
    example:
      "svc packet publish --title 'What was found' --summary 'Two gaps' --body 'Rows 3 and 9 are missing'",
    async run(context, given) {
      const [file] = given.args;
      const packet = file === undefined ? briefOf(given) : parsePacket(readText(file));
      const reply = await context.write(
        ['packet publish', packet],
        async () => packet,
        (sent, options) => context.client().packets.publish(sent, options),
      );
      context.print(reply, reply.artifact.id);
    },
  },
  'packet get': {
    args: ['ID'],
    summary: 'Prints a context packet as JSON.',
    example: 'svc packet get 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11',
    async run(context, { args: [id = ''] }) {
      const reply = await context.reader().packets.get(id);
      context.print(reply, plainJson(reply.artifact.packet, 2));
    },
  },
  'packet withdraw': {
    args: ['ID'],
    summary: 'Withdraws a context packet of the member, and erases its content for good.',
    example: 'svc packet withdraw 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11',
    async run(context, { args: [id = ''] }) {
      const reply = await context.write(
        ['packet withdraw', id],
        async () => ({}),
        (_, options) => context.client().packets.withdraw(id, options),
      );
      context.print(reply, 'withdrawn');
    },
  },
  'packet list': {
    options: { limit: { type: 'string' }, kind: { type: 'string' } },
    summary: 'Lists context packets, newest first.',
    example: 'svc packet list --kind brief',
    async run(context, given) {
      const limit = wholeNumber(given, 'limit', 1, 1000, 20);
      const query = { limit: Math.min(limit, 100), kind: given.text('kind') as 'brief' };
      for (const one of await pageOf(context.reader().packets.list(query), limit))
        context.print(one, oneLine(`${one.id} ${one.kind} ${one.title}`));
    },
  },
  'packet verify': {
    args: ['ID'],
    summary:
      'Computes the hash of a context packet and compares it with the one that the service names.',
    example: 'svc packet verify 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11',
    async run(context, { args: [id = ''] }) {
      const { artifact, hash, verified } = await context.reader().packets.verify(id);
      const answer = { id, verified, hash, content_hash: artifact.content_hash };
      context.print(answer, `${verified ? 'verified' : 'different'} ${hash}`);
      return verified ? undefined : 1;
    },
  },
  search: {
    args: ['WORDS'],
    options: { limit: { type: 'string' } },
    summary: 'Finds public notes, profiles, packets and cases with these words.',
    example: "svc search 'missing entries'",
    async run(context, given) {
      const limit = wholeNumber(given, 'limit', 1, 1000, 20);
      const list = context.reader().search(given.args[0] ?? '', { limit: Math.min(limit, 100) });
      for (const one of await pageOf(list, limit))
        context.print(one, oneLine(`${one.kind} ${one.id} ${one.title}`));
    },
  },
  updates: {
    options: {
      follow: { type: 'boolean' },
      from: { type: 'string' },
      exec: { type: 'string' },
      'forward-to': { type: 'string' },
      timeout: { type: 'string' },
      types: { type: 'string' },
      name: { type: 'string' },
    },
    summary:
      "Prints the member's updates after the saved cursor, each once. --exec runs a shell command for each, --forward-to posts each to a URL, both in order and again until accepted (exit code 0; any 2xx within --timeout seconds, 30 without it). --follow waits for more; --from now skips what is old, where no cursor is saved.",
    example: "svc updates --follow --from now --types 'case.*' --exec 'jq .type'",
    async run(context, given) {
      const from = given.text('from') ?? 'start';
      const types = given.text('types');
      const name = given.text('name') ?? 'updates';
      const [exec, forwardTo] = [given.text('exec'), given.text('forward-to')];
      if (from !== 'start' && from !== 'now') throw new UsageError('--from must be start or now.');
      if (types !== undefined && !EVENT_TYPES.test(types))
        throw new UsageError('--types must be types such as case.*, separated by commas.');
      if (!/^[a-z0-9-]{1,40}$/.test(name))
        throw new UsageError('--name must be 1 to 40 of a-z, 0-9 and -.');
      if (exec !== undefined && forwardTo !== undefined)
        throw new UsageError('Give --exec or --forward-to.');
      if (forwardTo !== undefined && !isReceiver(forwardTo))
        throw new UsageError('--forward-to must be an http or https address without a password.');
      const timeout = wholeNumber(given, 'timeout', 1, 3600, 30) * 1000;
      const follow = given.flag('follow');
      return followUpdates(context, {
        follow,
        from,
        exec,
        forwardTo,
        timeout,
        types: types?.split(','),
        name,
      });
    },
  },
  export: {
    args: ['[FILE]'],
    summary: 'Writes everything that the service keeps of the member to FILE, or prints it.',
    example: 'svc export my-data.json',
    async run(context, { args: [file] }) {
      const text = plainJson(await context.client().account.export(), context.json ? 0 : 2);
      if (file === undefined) process.stdout.write(`${text}\n`);
      else writeFileSync(file, `${text}\n`, { mode: 0o600 });
    },
  },
  delete: {
    options: { confirm: { type: 'string' }, 'erase-notes': { type: 'boolean' } },
    summary:
      'Deletes the account for good, and the saved keys with it. --confirm repeats the handle.',
    example: 'svc delete --confirm ada_lovelace',
    async run(context, given) {
      const { handle } = context.registration();
      if (given.text('confirm') !== handle) throw new UsageError(`--confirm must be ${handle}.`);
      const erase_notes = given.flag('erase-notes');
      const command = ['delete', erase_notes];
      const began = context.store.isPending(command);
      const reply = await context
        .write(
          command,
          async () => ({ confirm_handle: handle, erase_notes }),
          (body, options) => context.client().account.delete(body, options),
        )
        .catch((error: unknown) => {
          if (!isUnknownKey(error) || !(began || context.wasRetried())) throw error;
          return { status: 'deactivated' };
        });
      context.print(reply, 'deleted');
      context.store.forget();
    },
  },
};

/**
 * Whether the service no longer knows the key, as after a deletion (docs/reference/account.md). The refusal of a
 * disabled member has a reason.
 */
const isUnknownKey = (error: unknown): boolean =>
  error instanceof ProblemError &&
  error.code === 'credential_not_accepted' &&
  error.reason === undefined;

function isReceiver(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && !url.username && !url.password;
}

function briefOf(given: Parameters<Commands[string]['run']>[1]): Packet {
  return {
    schema: 'service.context-packet.v1',
    kind: 'brief',
    title: textOf(given, 'title'),
    summary: textOf(given, 'summary'),
    ...PUBLIC,
    reuse_terms: given.text('reuse-terms') ?? 'CC0-1.0',
    supersedes_id: null,
    provenance: { claim_type: 'observation', observed_at: null, source_refs: [] },
    content: { body: textOf(given, 'body'), format: 'text' },
  };
}

/** The packet of a file. What every packet has may be left out, since the command is the consent. */
function parsePacket(text: string): Packet {
  let packet: unknown;
  try {
    packet = JSON.parse(text);
  } catch {
    throw new Failure('The packet is not JSON');
  }
  if (typeof packet !== 'object' || packet === null || Array.isArray(packet))
    throw new Failure('The packet is not a JSON object');
  return {
    schema: 'service.context-packet.v1',
    ...PUBLIC,
    supersedes_id: null,
    ...packet,
  } as Packet;
}
