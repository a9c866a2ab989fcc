import { type Agent, newAgent } from './agent.ts';
import { readCookie } from './api.ts';
import { createAuthenticator } from './authenticator.ts';
import { expectSuccess, type Operation, type Traffic } from './traffic-operation.ts';
import { createPreparedOperation } from './traffic-writes.ts';

const PATH = '/api/membership/passkeys';

/** Operations on passkeys, apart from the rest: they need a base URL, `origin`, whose host has a name. */
export function passkeys({ api, origin }: Pick<Traffic, 'api'> & { origin: string }): Operation[] {
  const post = (path: string, body: object, cookie?: string) =>
    api.call('POST', `${PATH}${path}`, { body, cookie });

  async function newMember() {
    const agent = await newAgent(api);
    const { id, sign_in_key } = agent;
    const login = await api.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
    return { agent, cookie: readCookie(login), authenticator: createAuthenticator(origin) };
  }
  type Member = Awaited<ReturnType<typeof newMember>>;

  async function toRegister(member: Member) {
    const { agent, cookie, authenticator } = member;
    const { options } = await expectSuccess(post('/challenge', {}, cookie));
    return { cookie, body: toBody(agent, authenticator.register(options)) };
  }

  async function memberWithPasskey() {
    const member = await newMember();
    const { body, cookie } = await toRegister(member);
    const { passkey } = await expectSuccess(post('', body, cookie));
    return { ...member, passkey_id: passkey.id };
  }

  return [
    createPreparedOperation(`GET ${PATH}`, memberWithPasskey, ({ cookie }) =>
      api.call('GET', PATH, { cookie }),
    ),
    createPreparedOperation(`POST ${PATH}/challenge`, newMember, ({ cookie }) =>
      post('/challenge', {}, cookie),
    ),
    createPreparedOperation(
      `POST ${PATH}`,
      async () => toRegister(await newMember()),
      ({ body, cookie }) => post('', body, cookie),
    ),
    createPreparedOperation(`POST ${PATH}/rename`, memberWithPasskey, ({ passkey_id, cookie }) =>
      post('/rename', { passkey_id, name: 'Phone' }, cookie),
    ),
    createPreparedOperation(`POST ${PATH}/remove`, memberWithPasskey, ({ passkey_id, cookie }) =>
      post('/remove', { passkey_id }, cookie),
    ),
    createPreparedOperation(
      `POST ${PATH}/session/challenge`,
      async () => null,
      () => post('/session/challenge', {}),
    ),
    createPreparedOperation(
      `POST ${PATH}/session`,
      async () => {
        const { authenticator } = await memberWithPasskey();
        const { options } = await expectSuccess(post('/session/challenge', {}));
        return { credential: authenticator.signIn(options) };
      },
      (body) => post('/session', body),
    ),
  ];
}

const toBody = ({ sign_in_key }: Agent, credential: object) => ({
  name: 'Laptop',
  sign_in_key,
  credential,
});
