import t from 'tap';
import { UPDATE_TYPES, type UpdateType } from '../../../domain/updates/update-type.ts';
import { addModerator, atDesk } from '../../../harness/moderation.ts';
import { patient } from '../../../harness/patient.ts';
import { createTraffic } from '../../../harness/traffic.ts';
import { disablings } from '../../../harness/traffic-disabling.ts';
import { passkeys } from '../../../harness/traffic-passkeys.ts';
import { startService } from '../../support/service.ts';

t.test('documents every subject and data field that the feed holds', async (t) => {
  const service = await startService(t, {
    LIMIT_WRITES_PER_DAY: '10000',
    TEST_HOST: 'localhost',
  });
  const api = patient(service);
  const moderator = atDesk(api, await addModerator(service, 'Grace', 'moderator'));
  const lead = atDesk(api, await addModerator(service, 'Edsger', 'lead'));
  const operations = [
    ...(await createTraffic(api, { moderator, lead })),
    ...disablings({ api, lead }),
    ...passkeys({ api, origin: service.baseUrl }),
  ];
  for (const { prepare } of operations) await (await prepare())();

  const { rows: seen } = await service.database.pool.query<{
    type: UpdateType;
    subject: string;
    keys: string[];
  }>(
    `SELECT DISTINCT type, subject_type AS subject, ARRAY(SELECT jsonb_object_keys(data)) AS keys
      FROM feed`,
  );
  t.ok(new Set(seen.map(({ type }) => type)).size > 20);
  for (const { type, subject, keys } of seen) {
    const { subjects, data } = UPDATE_TYPES[type];
    t.ok((subjects as readonly string[]).includes(subject), `${type}: ${subject}`);
    for (const key of keys) t.ok(key in data, `${type}: ${key}`);
  }
});
