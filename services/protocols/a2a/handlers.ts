import type { Config } from '../../../platform/config.ts';
import type { Operations } from '../../../platform/http/invoke.ts';
import { publicContent } from '../../../platform/http/respond.ts';
import type { Content, Handler, Handlers, Route } from '../../../platform/http/route.ts';
import { sandboxNotice } from '../../sandbox-notice.ts';
import type { a2aContract } from './contract.ts';
import type { DispatcherDeps } from './dispatcher.ts';
import { offeredOperations } from './operations.ts';

export interface A2aDeps extends Pick<DispatcherDeps, 'bearer' | 'logger'> {
  config: Pick<Config, 'baseUrl' | 'sandbox' | 'sandboxEmptiedAt'>;
  /** Returns every operation of this instance; called on the first request. */
  operations: () => Operations;
}

export function a2aHandlers({
  config,
  bearer,
  logger,
  operations,
}: A2aDeps): Handlers<typeof a2aContract> {
  const { baseUrl } = config;
  const notice = sandboxNotice(config);
  let dispatch: ReturnType<typeof open> | undefined;
  let card: Content | undefined;

  // The SDK is imported on the first request, which makes the start of every process shorter.
  async function open() {
    const { dispatcher } = await import('./dispatcher.ts');
    return dispatcher({ operations: offeredOperations(operations()), bearer, baseUrl, logger });
  }

  const call: Handler<Route> = async ({ route, request }) => {
    const { incoming } = request;
    if (!incoming) throw new Error('a2a.call needs the request itself');
    dispatch ??= open();
    return (await dispatch)(route, { ...request, incoming }) as ReturnType<Handler<Route>>;
  };

  return {
    'a2a.call': call as unknown as Handlers<typeof a2aContract>['a2a.call'],

    'a2a.card': async () => {
      const { agentCard, CARD_CHANGED } = await import('./card.ts');
      card ??= {
        ...publicContent(agentCard(offeredOperations(operations()), baseUrl, notice)),
        served: 'always',
      };
      return { status: 200, content: card, headers: { 'last-modified': CARD_CHANGED } };
    },
  };
}
