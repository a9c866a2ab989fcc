import type { Config } from '../../../platform/config.ts';
import type { Operations } from '../../../platform/http/invoke.ts';
import { publicContent } from '../../../platform/http/respond.ts';
import type { Content, Handler, Handlers, Route } from '../../../platform/http/route.ts';
import { agentCard, CARD_CHANGED } from './card.ts';
import type { a2aContract } from './contract.ts';
import { type DispatcherDeps, dispatcher } from './dispatcher.ts';
import { offeredOperations } from './operations.ts';

export interface A2aDeps extends Pick<DispatcherDeps, 'bearer' | 'logger'> {
  config: Pick<Config, 'baseUrl'>;
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
  let dispatch: ReturnType<typeof dispatcher> | undefined;
  let card: Content | undefined;

  const call: Handler<Route> = async ({ route, request }) => {
    const { incoming } = request;
    if (!incoming) throw new Error('a2a.call needs the request itself');
    dispatch ??= dispatcher({
      operations: offeredOperations(operations()),
      bearer,
      baseUrl,
      logger,
    });
    return dispatch(route, { ...request, incoming }) as ReturnType<Handler<Route>>;
  };

  return {
    'a2a.call': call as unknown as Handlers<typeof a2aContract>['a2a.call'],

    'a2a.card': async () => {
      card ??= {
        ...publicContent(agentCard(offeredOperations(operations()), baseUrl)),
        served: 'always',
      };
      return { status: 200, content: card, headers: { 'last-modified': CARD_CHANGED } };
    },
  };
}
