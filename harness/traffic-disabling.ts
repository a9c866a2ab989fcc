import { type Agent, newAgent } from './agent.ts';
import { expectSuccess, type Operation, type Traffic } from './traffic-operation.ts';
import { createPreparedOperation } from './traffic-writes.ts';

/**
 * Operations on disabled memberships, apart from the rest: a lead disables at most 20 an hour. They need a
 * service without an undo window, for the appeals.
 */
export function disablings({ api, lead }: Pick<Traffic, 'api' | 'lead'>): Operation[] {
  const disable = ({ id }: Agent) =>
    lead.post(`members/${id}/disable`, { policy: 'spam', message: 'Adverts', until: null });
  const disabled = async () => {
    const member = await newAgent(api);
    await expectSuccess(disable(member));
    return member;
  };
  const send = (path: string, { id, sign_in_key }: Agent, more: object = {}) =>
    api.call('POST', `/api/membership/disabled${path}`, { body: { id, sign_in_key, ...more } });
  return [
    createPreparedOperation(
      'POST /api/moderation/members/:id/disable',
      () => newAgent(api),
      disable,
    ),
    createPreparedOperation('POST /api/moderation/members/:id/enable', disabled, ({ id }) =>
      lead.post(`members/${id}/enable`, {}),
    ),
    createPreparedOperation('POST /api/membership/disabled', disabled, (member) =>
      send('', member),
    ),
    createPreparedOperation('POST /api/membership/disabled/appeal', disabled, (member) =>
      send('/appeal', member, { text: 'It was not me' }),
    ),
    createPreparedOperation('POST /api/membership/disabled/export', disabled, (member) =>
      send('/export', member),
    ),
    createPreparedOperation('POST /api/membership/disabled/delete', disabled, (member) =>
      send('/delete', member, { confirm_handle: member.handle, erase_notes: true }),
    ),
  ];
}
