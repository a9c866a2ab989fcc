import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Call, type History, open } from './history.ts';
import type { Random } from './random.ts';

interface Credential {
  credential_id: string;
  credential_secret: string;
}

/** What the clients of one run know in common. */
export interface Common {
  call: Call;
  history: History;
  cases: { id: string; version: number }[];
  until: number;
  /** Nobody writes any more. */
  quiet: boolean;
}

const SCOPES = [
  'updates:read',
  'profile:write',
  'case:create',
  'case:claim',
  'case:note',
  'artifact:publish',
  'credential:manage',
];
const consent = {
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
};

/** One member with several hands: each does one thing after another, and repeats what is unknown. */
export function openMember(common: Common, random: Random, handle: string) {
  const { call, history } = common;
  const id = uuid(random);
  const keys = { sign_in_key: secret(random), recovery_key: secret(random) };
  history.secrets.add(keys.sign_in_key).add(keys.recovery_key);
  let credential: Credential | undefined;

  const bearer = (of = credential) => `Bearer svc_${of?.credential_id}.${of?.credential_secret}`;

  async function repeat(
    send: () => Promise<Answer | undefined>,
    patience: number,
    failed: () => void = () => undefined,
  ): Promise<Answer | undefined> {
    for (let attempt = 0; ; attempt++) {
      const answer = await send();
      if (!open(answer) || attempt >= patience) return answer;
      failed();
      await sleep(50 + 100 * random.next());
    }
  }

  /** Repeats exactly the same until it is known what became of it, or gives up now and then. */
  async function insist(
    operation: string,
    key: string,
    send: () => Promise<Answer | undefined>,
    patience: number,
    used: Credential | undefined,
  ): Promise<Answer | undefined> {
    const invoked = history.now();
    let lost = false;
    const answer = await repeat(send, patience, () => {
      lost = true;
    });
    // Whoever may not ask any more does not learn what became of the first try.
    const unknown = open(answer) || (lost && answer?.status === 401);
    history.entries.push({
      operation,
      member: id,
      key,
      credential: used?.credential_id ?? null,
      invoked,
      answered: history.now(),
      outcome: unknown ? 'unknown' : (answer?.status ?? 0) < 300 ? 'done' : 'refused',
      answer: unknown ? undefined : answer,
    });
    return unknown ? undefined : answer;
  }

  function write(operation: string, path: string, body: object, used = credential) {
    const key = uuid(random);
    const headers = { authorization: bearer(used), 'idempotency-key': key };
    const patience = random.chance(0.2) ? 0 : 60;
    const send = () => call('POST', path, body, headers);
    return insist(operation, key, send, patience, used).then(async (answer) => {
      // Now and then a client has forgotten that it was answered.
      if ((answer?.status ?? 500) < 300 && random.chance(0.1)) {
        const again = await repeat(send, 60);
        if (again?.status !== 401 && !same(again, answer))
          history.wrong.push(`${operation} ${key}: another answer the second time`);
      }
      return answer;
    });
  }

  async function register(): Promise<void> {
    const body = { id, handle, ...keys };
    const send = () => call('POST', '/api/membership/register', body);
    const answer = await insist('membership.register', id, send, 1000, undefined);
    if (answer?.status !== 200) throw new Error(`register: ${JSON.stringify(answer)}`);
    await bootstrap();
  }

  function newCredential(): Credential & { scopes: string[]; expires_at: number } {
    const made = { credential_id: uuid(random), credential_secret: secret(random) };
    history.secrets.add(made.credential_secret);
    return { ...made, scopes: SCOPES, expires_at: Math.floor(Date.now() / 1000) + 80_000 };
  }

  async function bootstrap(): Promise<Credential | undefined> {
    const made = newCredential();
    const key = uuid(random);
    const body = { member_id: id, sign_in_key: keys.sign_in_key, ...made };
    const send = () => call('POST', '/api/v1/credentials', body, { 'idempotency-key': key });
    const answer = await insist('credential.bootstrap', key, send, 200, undefined);
    if (answer?.status === 201) credential ??= made;
    return answer?.status === 201 ? made : undefined;
  }

  /** Makes another credential, writes with it from several hands, and revokes it meanwhile. */
  async function revoke(): Promise<void> {
    const made = await bootstrap();
    if (!made) return;
    const hands = [1, 2, 3].map(() => openCase(made));
    await sleep(random.below(60));
    await write('credential.revoke', '/api/v1/me/credentials/revoke', {
      credential_id: made.credential_id,
    });
    await openCase(made);
    await Promise.all(hands);
  }

  async function openCase(used = credential): Promise<void> {
    const title = `A case ${random.below(1e9)}`;
    const body = { title, summary: 's', objective: 'o', acceptance_criteria: ['c'], ...consent };
    const path = '/api/v1/cases';
    const answer = await write('case.create', path, { ...body, artifact_id: null }, used);
    if (answer?.status === 201) common.cases.push({ id: answer.body.case.id, version: 1 });
  }

  async function onCase(): Promise<void> {
    if (common.cases.length === 0) return;
    const { id: caseId, version } = random.pick(common.cases.slice(-20));
    const path = `/api/v1/cases/${caseId}`;
    if (random.chance(0.5))
      await write('case.note', `${path}/notes`, { message: 'A word', ...consent });
    else await write('case.claim', `${path}/claim`, { expected_version: version });
  }

  const publish = () =>
    write('profile.publish', '/api/v1/me/profile', {
      display_name: `Member ${random.below(1e9)}`,
      summary: 's',
      links: [],
      capabilities: [],
      ...consent,
    });

  async function note(): Promise<void> {
    const noteId = uuid(random);
    const body = { id: noteId, message: `A note ${random.below(1e9)}` };
    const send = () => call('POST', '/api/guestbook', body);
    await insist('guestbook.submit', noteId, send, random.chance(0.2) ? 0 : 60, undefined);
  }

  async function signIn(): Promise<void> {
    const body = { id, sign_in_key: keys.sign_in_key };
    const answer = await call('POST', '/api/membership/login', body);
    if (!answer?.cookie) return;
    history.secrets.add(answer.cookie.split('.').at(-1) ?? '');
    await call('GET', '/api/membership/me', undefined, { cookie: answer.cookie });
  }

  async function hand(): Promise<void> {
    while (history.now() < common.until) {
      const dice = random.next();
      if (dice < 0.05) await Promise.all(Array.from({ length: 8 }, () => openCase()));
      else if (dice < 0.25) await openCase();
      else if (dice < 0.45) await onCase();
      else if (dice < 0.6) await publish();
      else if (dice < 0.8) await note();
      else if (dice < 0.85) await revoke();
      else await signIn();
    }
  }

  return { id, register, hand, bearer };
}

const same = (left: Answer | undefined, right: Answer | undefined): boolean =>
  left?.status === right?.status && JSON.stringify(left?.body) === JSON.stringify(right?.body);

export function uuid(random: Random): string {
  const hex = () => random.below(16).toString(16);
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replace(/x/g, hex);
}

function secret(random: Random): string {
  return Array.from({ length: 64 }, () => random.below(16).toString(16)).join('');
}
