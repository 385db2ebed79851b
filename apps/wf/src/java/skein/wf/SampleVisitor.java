// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;

/**
 * The visitors of a sample log's site: addresses, referring pages and user agents by rank.
 *
 * <p>All names are in the domains that are reserved for examples, except the site's own, which the rules of Wide Finder name.
 */
final class SampleVisitor {
    private static final int CLIENT_OCTAVES = 18;
    private static final int CLIENTS = 200_000;
    private static final int REFERRER_OCTAVES = 16;
    private static final int REFERRERS = 52_000;
    private static final int AGENT_OCTAVES = 6;

    private static final byte[][] PROVIDERS = Text.literals(
            ".dyn.example.net", ".cable.example.org", ".dsl.example.com", ".mobile.example.net", ".campus.example.edu");
    private static final byte[][] SITES = Text.literals(
            "http://www.search.example/search?q=",
            "http://search.example.com/?hl=en&q=",
            "https://duck.example/?q=",
            "http://links.example.org/story/",
            "http://planet.example.net/",
            "https://news.example.com/item?id=",
            "http://reader.example.com/feeds/",
            "http://weblog.example.org/archive/");
    private static final int SEARCHES = 3;
    private static final byte[] OWN_PAGES = Text.literal(SampleSite.ADDRESS);
    private static final byte[][] AGENTS = agents();

    private SampleVisitor() {}

    /** Adds the address of a client: most are IPv4, some are host names, a few are IPv6. The seed decides which clients are frequent. */
    static void addClient(Text text, Dice dice, long seed) {
        long random = Dice.mix(seed + dice.rank(CLIENT_OCTAVES) % CLIENTS);
        int kind = (int) (random >>> 57);
        if (kind < 100) {
            text.add(1 + (random & 0xFF) % 223, 1).add('.').add(random >>> 8 & 0xFF, 1);
            text.add('.').add(random >>> 16 & 0xFF, 1).add('.').add(random >>> 24 & 0xFF, 1);
        } else if (kind < 126) {
            text.add((char) ('a' + kind % 26)).add(random & 0xFF, 1).add('-').add(random >>> 8 & 0xFFF, 3);
            text.add(PROVIDERS[(int) (random >>> 20 & 0xFF) % PROVIDERS.length]);
        } else {
            text.add(Text.literal("2001:db8:")).add(random & 0xFFF, 1).add(':').add(random >>> 12 & 0xFFF, 1);
            text.add(':').add(':').add(random >>> 24 & 0xFF, 1);
        }
    }

    /** Adds a referring page of another site. */
    static void addReferrer(Text text, Dice dice) {
        long random = Dice.mix(dice.rank(REFERRER_OCTAVES) % REFERRERS + 0x4EFL);
        int site = (int) (random >>> 60) & 7;
        text.add(SITES[site]);
        if (site < SEARCHES) SampleSite.addQuery(text, random);
        else text.add(random & 0xFFFFF, 1);
    }

    /** Adds a page of the site itself. */
    static void addOwnPage(Text text, Dice dice) {
        SampleSite.addUrl(text.add(OWN_PAGES), dice.rank(SampleSite.OCTAVES));
    }

    /** Adds a user agent, without quotes. */
    static void addAgent(Text text, Dice dice) {
        text.add(AGENTS[dice.rank(AGENT_OCTAVES)]);
    }

    private static byte[][] agents() {
        byte[][] systems = Text.literals(
                "Windows NT 10.0; Win64; x64",
                "Macintosh; Intel Mac OS X 10_15_7",
                "X11; Linux x86_64",
                "Windows NT 5.1; U; en-US");
        byte[][] programs = Text.literals(
                "Gecko/20100101 Firefox/",
                "AppleWebKit/537.36 Chrome/",
                "AppleWebKit/605.1.15 Safari/",
                "Trident/7.0 MSIE/");
        byte[][] robots = Text.literals(
                "FeedReader/3.1 (+http://reader.example.com/about; 4132 subscribers)",
                "ExampleBot/2.1 (+http://bot.example.org/)",
                "curl/8.5.0",
                "NetNewsWire/6.1 (Mac OS X; http://feeds.example.com/)",
                "-",
                "Python-urllib/3.11",
                "Wget/1.21.4");
        byte[][] agents = new byte[(1 << AGENT_OCTAVES) - 1][];
        for (int i = 0; i < agents.length; i++)
            agents[i] = i % 6 == 1 ? robots[i / 6 % robots.length] : browser(systems, programs, i);
        return agents;
    }

    private static byte[] browser(byte[][] systems, byte[][] programs, int i) {
        long random = Dice.mix(i + 0xA6E47L);
        Text text = new Text(128)
                .add(Text.literal("Mozilla/5.0 ("))
                .add(systems[(int) random & 3])
                .add(Text.literal("; rv:"));
        text.add(90 + (random >>> 8 & 0x3F), 1).add(Text.literal(".0) ")).add(programs[(int) random >>> 2 & 3]);
        text.add(90 + (random >>> 16 & 0x3F), 1).add('.').add(random >>> 24 & 0xF, 1);
        return Arrays.copyOf(text.bytes, text.length);
    }
}
