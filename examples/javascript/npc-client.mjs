// A small client for Fabula's game socket: one class to copy into a game that runs in a browser or in Node 22 or newer
// (older ones have no WebSocket of their own: `npm install ws`, and `globalThis.WebSocket = (await import('ws')).default`).
// It answers state requests, hands tags on as they grow, confirms what was played, and connects again by itself.
//
//   node npc-client.mjs                                            # a talk on the terminal; an empty line ends it
//   node npc-client.mjs ws://127.0.0.1:8420/ws "Hello there!"      # says these lines, and leaves

/** @typedef {{id: string, name: string, attrs: Record<string, string>, text: string, complete: boolean}} Tag */
/** @typedef {{id: string, agentId: string, tags: Tag[], interrupted: boolean}} Turn */
/** @typedef {{spec?: object, world?: object, tags?: object[], tools?: object[], player?: object}} AgentState */

/**
 * One connection to Fabula for all NPCs of a game. Events: `tag` {turn, tag}, `text` {turn, tag, text},
 * `tool` {turn, tag}, `turnend` {turn}, `problem` {frame}, `welcome` {frame}, `lost` {}; each in `event.detail`.
 */
export class NpcClient extends EventTarget {
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {Map<string, Turn>} */ #turns = new Map();
  /** @type {object[]} */ #waiting = [];
  #connectionId = null;
  #open = false;
  #closed = false;
  #waitMs = 500;

  /** @param {{url: string, game: string, stateOf: (agentId: string) => AgentState, token?: string}} options */
  constructor({ url, game, stateOf, token }) {
    super();
    Object.assign(this, { url, game, stateOf, token });
    this.#connect();
  }

  /** The player says something to an NPC. While it speaks, this interrupts it. */
  say(agentId, text, { player = 'Player', interrupt = true } = {}) {
    const source = { id: 'player', name: player, kind: 'player' };
    this.tell(agentId, 'player_speech', text, { source, interrupt });
  }

  /** Anything that happens to an NPC and that it reacts to. */
  tell(agentId, eventType, text, fields = {}) {
    this.#send({ type: 'interaction_event', agent_id: agentId, event_type: eventType, text, ...fields });
  }

  /** Something that NPCs notice without reacting; '*' means all of them. */
  notify(agentIds, eventType, text) {
    this.#send({ type: 'notification_event', agent_ids: agentIds, event_type: eventType, text });
  }

  /** The NPC falls silent. */
  cancel(agentId) {
    this.#send({ type: 'cancel_turn', agent_id: agentId });
  }

  /** What came of a tool; the NPC may take another turn on it. */
  answerTool(turn, tag, result, { goesOn = true } = {}) {
    const results = [{ call_id: tag.id, name: tag.attrs.name ?? '', ok: true, result }];
    this.#send({ type: 'tool_results', agent_id: turn.agentId, turn_id: turn.id, results, continue: goesOn });
  }

  /** Ends the connection for good. */
  close() {
    this.#closed = true;
    this.#socket?.close();
  }

  #connect() {
    const socket = new WebSocket(this.url);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      const hello = { type: 'hello', protocol: 1, client: this.game, token: this.token, resume: this.#connectionId };
      socket.send(JSON.stringify(hello));
    });
    socket.addEventListener('message', (event) => this.#hear(JSON.parse(event.data)));
    socket.addEventListener('error', () => {});
    socket.addEventListener('close', () => this.#lost());
  }

  #lost() {
    this.#open = false;
    if (this.#closed) return;
    this.#emit('lost', {});
    setTimeout(() => this.#connect(), this.#waitMs);
    this.#waitMs = Math.min(this.#waitMs * 2, 10_000);
  }

  /** Sends a frame, or keeps it until the connection stands again. */
  #send(frame) {
    if (this.#open) this.#socket.send(JSON.stringify(frame));
    else this.#waiting.push(frame);
  }

  #hear(frame) {
    switch (frame.type) {
      case 'welcome':
        return this.#takeUp(frame);
      case 'get_agent_state': {
        const names = { agent_id: frame.agent_id, request_id: frame.request_id };
        return this.#send({ type: 'agent_state_snapshot', ...names, ...this.stateOf(frame.agent_id) });
      }
      case 'agent_turn_started':
        return this.#turns.set(frame.turn_id, {
          id: frame.turn_id, agentId: frame.agent_id, tags: [], interrupted: false,
        });
      case 'agent_tag_open':
      case 'agent_tag_chunk':
      case 'agent_tag_close':
        return this.#hearTag(frame, this.#turns.get(frame.turn_id));
      case 'agent_turn_finished':
      case 'agent_turn_interrupted':
        return this.#end(frame.turn_id, frame.type === 'agent_turn_interrupted');
      case 'error':
        return this.#emit('problem', { frame });
      default:
        return undefined;
    }
  }

  /** After a lost connection: what was being said is over, and is confirmed as far as it was heard. */
  #takeUp(welcome) {
    this.#connectionId = welcome.connection_id;
    this.#open = true;
    this.#waitMs = 500;
    for (const id of [...this.#turns.keys()]) this.#end(id, true);
    for (const frame of this.#waiting.splice(0)) this.#send(frame);
    this.#emit('welcome', { frame: welcome });
  }

  #hearTag(frame, turn) {
    if (!turn) return;
    if (frame.type === 'agent_tag_open') {
      const tag = { id: frame.tag_id, name: frame.tag, attrs: frame.attrs, text: '', complete: false };
      turn.tags.push(tag);
      this.#emit('tag', { turn, tag });
      return;
    }
    const tag = turn.tags.at(-1);
    if (frame.type === 'agent_tag_chunk') {
      tag.text += frame.text;
      this.#emit('text', { turn, tag, text: frame.text });
      return;
    }
    tag.complete = frame.complete;
    if (tag.name === 'tool') this.#emit('tool', { turn, tag });
  }

  /** Confirms the turn as it was heard. A game that plays more slowly does this when its bubble has been read. */
  #end(turnId, interrupted) {
    const turn = this.#turns.get(turnId);
    if (!turn) return;
    this.#turns.delete(turnId);
    turn.interrupted = interrupted;
    const tags = turn.tags.map(({ name, attrs, text, complete }) => (
      { tag: name, attrs, text, status: complete ? 'played' : 'partial' }
    ));
    const status = interrupted ? 'interrupted' : 'completed';
    this.#send({ type: 'agent_turn_result', agent_id: turn.agentId, turn_id: turn.id, status, tags });
    this.#emit('turnend', { turn });
  }

  #emit(name, detail) {
    this.dispatchEvent(Object.assign(new Event(name), { detail }));
  }
}

const MARA = {
  spec: {
    name: 'Mara',
    role: 'a smith in Oakford',
    personality: 'Gruff but fair.',
    knowledge: ['The old bridge fell into the river last spring.'],
  },
  world: { location: 'the smithy', inventory: ['a dagger', 'a bag of nails'] },
};

/** The lines that are typed, until an empty one. */
async function* typed() {
  const { createInterface } = await import('node:readline');
  console.log('Mara is here. Say something; an empty line ends the talk.');
  for await (const line of createInterface({ input: process.stdin })) {
    if (!line.trim()) return;
    yield line.trim();
  }
}

/** Says each line to Mara and prints what she answers. */
async function talk(url, lines) {
  const client = new NpcClient({ url, game: 'terminal', stateOf: () => MARA });
  client.addEventListener('text', ({ detail }) => process.stdout.write(detail.text));
  client.addEventListener('lost', () => console.error(`Nobody at ${url}; trying again.`));
  client.addEventListener('problem', ({ detail }) => console.error(detail.frame.message));
  for await (const line of lines) {
    const ended = new Promise((resolve) => client.addEventListener('turnend', resolve, { once: true }));
    console.log(`> ${line}`);
    client.say('mara', line);
    await ended;
    console.log();
  }
  client.close();
}

if (globalThis.process?.argv[1] && import.meta.url === new URL(`file://${process.argv[1]}`).href) {
  if (typeof WebSocket === 'undefined') {
    console.error(`This is Node ${process.versions.node}, which has no WebSocket. Use Node 22 or newer.`);
    process.exit(1);
  }
  const [url = 'ws://127.0.0.1:8420/ws', ...lines] = process.argv.slice(2);
  await talk(url, lines.length ? lines : typed());
}
