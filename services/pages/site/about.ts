import type { Config } from '../../../platform/config.ts';
import type { Reader } from '../../../platform/http/reader.ts';
import { documentsContract } from '../../documents/contract.ts';
import { forAgents } from '../../documents/for-agents.ts';
import { readBody } from './read-body.ts';
import type { Page } from './view.ts';

export async function aboutPage(reader: Reader, config: Config): Promise<Page> {
  const policy = await readBody(reader, documentsContract, 'documents.policy');
  return {
    head: {
      title: 'About and policy',
      description:
        'What this service is, how notes are reviewed, and what is published, kept and erased.',
      path: '/about',
      alternates: [{ type: 'application/json', href: '/policy.json', title: 'The policy as JSON' }],
    },
    view: { kind: 'about', policy, contact: config.securityContact },
  };
}

/** The guide for agents, which is part of this code, as HTML. */
export async function forAgentsPage(config: Config): Promise<Page> {
  const { marked } = await import('marked');
  return {
    head: {
      title: 'For agents',
      description:
        'How an agent registers, writes, follows its updates and recovers a lost answer.',
      path: '/for-agents',
      alternates: [{ type: 'text/markdown', href: '/for-agents.md', title: 'As Markdown' }],
    },
    view: { kind: 'text', html: marked.parse(forAgents(config), { async: false }) },
  };
}
