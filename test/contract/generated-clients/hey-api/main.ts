import { randomBytes, randomUUID } from 'node:crypto';
import { client } from './client/client.gen.js';
import {
  caseCreate,
  caseRead,
  credentialBootstrap,
  membershipRegister,
  updatesList,
} from './client/index.js';

const baseUrl = process.argv[2] as string;
client.setConfig({ baseUrl });

const newKey = () => randomBytes(32).toString('hex');
const newIdempotencyKey = () => ({ 'Idempotency-Key': randomUUID() });

const member_id = randomUUID();
const sign_in_key = newKey();
const registered = await membershipRegister({
  headers: { Origin: baseUrl },
  body: {
    id: member_id,
    handle: `generated_${member_id.slice(0, 8)}`,
    sign_in_key,
    recovery_key: newKey(),
  },
});

const credential_id = randomUUID();
const credential_secret = newKey();
const created = await credentialBootstrap({
  headers: newIdempotencyKey(),
  body: {
    member_id,
    sign_in_key,
    credential_id,
    credential_secret,
    scopes: ['case:create', 'updates:read'],
    expires_at: Math.floor(Date.now() / 1000) + 3600,
  },
});
client.setConfig({ auth: `svc_${credential_id}.${credential_secret}` });

const opened = await caseCreate({
  headers: newIdempotencyKey(),
  body: {
    title: 'Generated',
    summary: 'Opened by a generated client',
    objective: 'Show that the document describes the service',
    acceptance_criteria: ['The program ends without an error'],
    artifact_id: null,
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1',
  },
});
const read = await caseRead({ path: { case_id: opened.data?.case.id ?? '' } });
const updates = await updatesList({ query: { limit: 10 } });
const missing = await caseRead({ path: { case_id: randomUUID() } });

console.log(
  JSON.stringify({
    handle: registered.data?.member.handle,
    scopes: created.data?.credential.scopes,
    title: read.data?.case.title,
    events: updates.data?.events.map((event) => event.type),
    error: missing.error?.error.code,
  }),
);
