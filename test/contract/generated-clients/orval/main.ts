import { randomBytes, randomUUID } from 'node:crypto';
import {
  caseCreate,
  caseRead,
  credentialBootstrap,
  membershipRegister,
  updatesList,
} from './client/service.js';

// The generated functions read it, too: see orval.config.ts.
const baseUrl = process.argv[2] as string;

const newKey = () => randomBytes(32).toString('hex');
const newIdempotencyKey = () => ({ 'Idempotency-Key': randomUUID() });

/** The reply, when it has this status. */
function expectStatus<R extends { status: number }, S extends R['status']>(reply: R, status: S) {
  if (reply.status !== status) throw new Error(`${reply.status}, not ${status}`);
  return reply as Extract<R, { status: S }>;
}

const member_id = randomUUID();
const sign_in_key = newKey();
const registered = await membershipRegister(
  {
    id: member_id,
    handle: `generated_${member_id.slice(0, 8)}`,
    sign_in_key,
    recovery_key: newKey(),
  },
  { Origin: baseUrl },
);

const credential_id = randomUUID();
const credential_secret = newKey();
const created = await credentialBootstrap(
  {
    member_id,
    sign_in_key,
    credential_id,
    credential_secret,
    scopes: ['case:create', 'updates:read'],
    expires_at: Math.floor(Date.now() / 1000) + 3600,
  },
  newIdempotencyKey(),
);
const headers = { authorization: `Bearer svc_${credential_id}.${credential_secret}` };

const opened = await caseCreate(
  {
    title: 'Generated',
    summary: 'Opened by a generated client',
    objective: 'Show that the document describes the service',
    acceptance_criteria: ['The program ends without an error'],
    artifact_id: null,
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1',
  },
  newIdempotencyKey(),
  { headers },
);
const read = await caseRead(expectStatus(opened, 201).data.case.id);
const updates = await updatesList({ limit: 10 }, { headers });
const missing = await caseRead(randomUUID());

console.log(
  JSON.stringify({
    handle: expectStatus(registered, 200).data.member.handle,
    scopes: expectStatus(created, 201).data.credential.scopes,
    title: expectStatus(read, 200).data.case.title,
    events: expectStatus(updates, 200).data.events.map((event) => event.type),
    error: expectStatus(missing, 404).data.error.code,
  }),
);
