// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * The lines of a sample log, a block at a time. A block depends on the seed and its number alone, so that blocks can be made
 * by any number of threads in any order.
 *
 * <p>Most lines are in Apache's combined format; about one in 250 is odd, see {@link SampleOddities}. The first block
 * has an odd line at each 40th place, one of every kind, so that small logs have them too. Not safe for use
 * by two threads at once.
 */
final class SampleLines {
    /** How many lines there are in a block. */
    static final int BLOCK_LINES = 4096;

    private static final int ODD_EVERY = 250;
    private static final int FIRST_ODD_EVERY = 40;

    private static final byte[] NOBODY = Text.literal(" - - ");
    private static final byte[] AFTER_TIME = Text.literal(" \"");
    private static final byte[] BEFORE_AGENT = Text.literal("\" \"");
    private static final byte[] NO_REFERRER = Text.literal(" \"-\" \"");
    private static final byte[] END = Text.literal("\"\n");
    private static final byte[][] METHODS = Text.literals("GET ", "POST ", "HEAD ");
    private static final byte[][] PROTOCOLS = Text.literals(" HTTP/1.1\" ", " HTTP/1.0\" ", " HTTP/2.0\" ");
    private static final byte[][] OTHER_STATUSES = Text.literals("301", "302", "206", "403", "500");
    private static final byte[] FOUND = Text.literal("200");
    private static final byte[] UNCHANGED = Text.literal("304");
    private static final byte[] MISSING = Text.literal("404");
    private static final byte[] NO_SIZE = Text.literal(" -");
    private static final byte[] PROBE = Text.literal("/wp-login.php");

    private final long seed;
    private final boolean odd;
    private final SampleClock clock = new SampleClock();
    private final Text text = new Text(BLOCK_LINES * 256);

    /** Lines for a seed, with odd ones or without. */
    SampleLines(long seed, boolean odd) {
        this.seed = seed;
        this.odd = odd;
    }

    /** Returns the lines of a block, in a buffer that is reused. */
    Text block(long block) {
        Dice dice = new Dice(Dice.mix(seed) ^ Dice.mix(~block));
        text.length = 0;
        for (int i = 0; i < BLOCK_LINES; i++) {
            int start = text.length;
            addLine(dice, block * BLOCK_LINES + i);
            if (!odd) continue;
            if (block == 0
                    && i % FIRST_ODD_EVERY == FIRST_ODD_EVERY - 1
                    && i / FIRST_ODD_EVERY < SampleOddities.KINDS) {
                SampleOddities.spoil(text, start, i / FIRST_ODD_EVERY, dice, false);
            } else if (dice.below(ODD_EVERY) == 0) {
                SampleOddities.spoil(text, start, dice.below(SampleOddities.KINDS), dice, block > 0);
            }
        }
        return text;
    }

    private void addLine(Dice dice, long n) {
        Text time = clock.at(n);
        SampleVisitor.addClient(text, dice, seed);
        text.add(NOBODY).add(time.bytes, 0, time.length).add(AFTER_TIME);
        int chance = dice.below(1024);
        text.add(chance < 990 ? METHODS[0] : chance < 1010 ? METHODS[1] : METHODS[2]);
        addAnswer(dice, dice.rank(SampleSite.OCTAVES));
        addReferrer(dice);
        SampleVisitor.addAgent(text, dice);
        text.add(END);
    }

    /** Adds URL, protocol, status and size. */
    private void addAnswer(Dice dice, int rank) {
        int chance = dice.below(1024);
        boolean missing = chance < 40;
        if (!missing) SampleSite.addUrl(text, rank);
        else if (chance < 10) text.add(PROBE);
        else SampleSite.addArticle(text, Dice.mix(rank % 8000 + 0x404L));
        int protocol = dice.below(16);
        text.add(PROTOCOLS[protocol < 13 ? 0 : protocol < 15 ? 1 : 2]);
        if (missing) {
            text.add(MISSING).add(' ').add(200 + rank % 100, 1);
        } else if (chance < 850) {
            text.add(FOUND).add(' ').add(SampleSite.sizeBytes(rank), 1);
        } else if (chance < 980) {
            text.add(UNCHANGED).add(NO_SIZE);
        } else {
            text.add(OTHER_STATUSES[chance % OTHER_STATUSES.length]).add(' ').add(chance, 1);
        }
    }

    /** Adds what lies between the size and the user agent. */
    private void addReferrer(Dice dice) {
        int chance = dice.below(64);
        if (chance < 24) {
            text.add(NO_REFERRER);
            return;
        }
        text.add(AFTER_TIME);
        if (chance < 40) SampleVisitor.addOwnPage(text, dice);
        else SampleVisitor.addReferrer(text, dice);
        text.add(BEFORE_AGENT);
    }
}
