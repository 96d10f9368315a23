import { ModelTalk } from "../../policy/egress/model-talk.ts";
import type { EgressContext } from "./egress-context.ts";
import type { ExchangeRecord } from "./exchange-record.ts";
import { FrameReader } from "./web-socket-frames.ts";

const CONTROL = 8;

/** What a model is asked and answers over a WebSocket counts as it does over HTTP; that it is asked counts at once, since many questions may come before the first answer. */
export const talkOf = ({ budget }: Pick<EgressContext, "budget">, record: ExchangeRecord): ModelTalk =>
  new ModelTalk({
    onAsk: () => budget.begin(),
    onAnswer: (usage, isAsked) => record.answered(usage, isAsked),
  });

/** Takes what an upstream sends, beside its way to the sandbox, which never waits for it. */
export function answerReader(talk: ModelTalk): (chunk: Buffer) => void {
  let isControl = false;
  let isFinal = true;
  let isBroken = false;
  const reader = new FrameReader({
    head: (head) => {
      isControl = head.opcode >= CONTROL;
      if (!isControl) isFinal = head.isFinal;
    },
    payload(bytes, isLast) {
      if (isControl) return;
      talk.receive(bytes);
      if (isLast && isFinal) talk.received();
    },
  });
  return (chunk) => {
    if (isBroken) return;
    try {
      reader.push(chunk);
    } catch {
      // A server that sends no frames tells no tokens either.
      isBroken = true;
    }
  };
}
