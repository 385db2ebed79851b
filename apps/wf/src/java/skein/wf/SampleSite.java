// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * The pages of a sample log's site: the URL and the size of the answer for each rank of popularity.
 *
 * <p>A rank always gives the same URL. The most popular are feeds, front pages and style sheets; the rest are
 * articles, their pictures and lesser pages.
 */
final class SampleSite {
    /** How many octaves of ranks there are: 2^15 - 1 URLs. */
    static final int OCTAVES = 15;

    /** The address of the site: the one that the rules of Wide Finder 2 leave out of the referrers. */
    static final String ADDRESS = "http://www.tbray.org";

    private static final byte[][] POPULAR = Text.literals(
            "/ongoing/ongoing.atom",
            "/favicon.ico",
            "/ongoing/",
            "/ongoing/serif.css",
            "/ongoing/ongoing.rss",
            "/",
            "/ongoing/ongoing.js",
            "/robots.txt",
            "/ongoing/banner-640.jpg",
            "/ongoing/comments.atom",
            "/ongoing/rss.xml",
            "/ongoing/sans.css",
            "/ongoing/truth/",
            "/apple-touch-icon.png");
    private static final byte[][] PICTURES = Text.literals(".jpg", ".png", ".gif", ".webp");
    private static final byte[][] SECTIONS =
            Text.literals("Technology", "Business", "Arts", "Language", "The_World", "Places");
    private static final byte[][] WORDS = Text.literals(
            "Ant", "Basalt", "Canal", "Delta", "Ember", "Fern", "Garnet", "Harbour", "Ibis", "Juniper", "Kestrel",
            "Lichen", "Meadow", "Nettle", "Orchard", "Pebble", "Quarry", "River", "Saddle", "Teacup", "Umber", "Violet",
            "Willow", "Yarrow", "Zephyr", "Atlas", "Bridge", "Copper", "Dune", "Engine", "Forest", "Glacier", "Hinge",
            "Island", "Jetty", "Keel", "Lantern", "Mirror", "Needle", "Oar", "Paper", "Quill", "Rope", "Signal",
            "Thread", "Unicorn", "Valve", "Wharf", "Yard", "Zinc", "Bell", "Clock", "Drum", "Eagle", "Flint", "Grain",
            "Hazel", "Ink", "Jade", "Kiln", "Loom", "Mast", "Nail", "Olive");
    private static final byte[] WHEN = Text.literal("/ongoing/When/");
    private static final byte[] WHAT = Text.literal("/ongoing/What/");
    private static final byte[] SEARCH = Text.literal("/ongoing/search?q=");
    private static final byte[] PAGE = Text.literal("&page=");
    private static final byte[] HTML = Text.literal(".html");

    private SampleSite() {}

    /** Adds the URL of a rank. */
    static void addUrl(Text text, int rank) {
        long random = Dice.mix(rank + 0x5EEDL);
        int kind = (int) (random >>> 57); // 0 to 127
        if (rank < POPULAR.length) text.add(POPULAR[rank]);
        else if (kind < 66) addArticle(text, random);
        else if (kind < 100) addPicture(text, random);
        else if (kind < 114) addPage(text, random);
        else addSearch(text, random);
    }

    /** Adds the URL of an article: a date, a name; {@code random} decides which. */
    static void addArticle(Text text, long random) {
        addDate(text, random);
        addName(text, random);
    }

    private static void addDate(Text text, long random) {
        int year = 2003 + (int) (random & 31) * 23 / 32;
        text.add(WHEN).add(year / 10, 3).add('x').add('/').add(year, 4);
        text.add('/')
                .add(1 + (random >>> 5 & 0xFF) % 12, 2)
                .add('/')
                .add(1 + (random >>> 13 & 0xFF) % 28, 2)
                .add('/');
    }

    private static void addName(Text text, long random) {
        text.add(word(random >>> 21));
        int form = (int) (random >>> 33 & 3);
        if (form > 0) text.add('-').add(word(random >>> 27));
        if (form > 2) text.add('-').add(random >>> 35 & 0xFF, 1);
    }

    private static byte[] word(long random) {
        return WORDS[(int) random & 63];
    }

    private static void addPicture(Text text, long random) {
        addDate(text, random);
        addName(text, random);
        text.add(PICTURES[(int) (random >>> 43 & 3)]);
    }

    private static void addPage(Text text, long random) {
        text.add(WHAT)
                .add(SECTIONS[(int) (random >>> 43 & 0xFF) % SECTIONS.length])
                .add('/');
        addName(text, random);
        text.add(HTML);
    }

    private static void addSearch(Text text, long random) {
        text.add(SEARCH);
        addName(text, random);
        text.add(PAGE).add(random >>> 45 & 31, 1);
    }

    /** Returns the size of the answer for a rank: from half a kilobyte to 128 KB, each octave equally likely. */
    static int sizeBytes(int rank) {
        long random = Dice.mix(rank + 0xB17E5L);
        int octave = 9 + (int) (random >>> 61);
        return (1 << octave) + ((int) random & (1 << octave) - 1);
    }

    /** Adds two or three words with plus signs between them, as in a search. */
    static void addQuery(Text text, long random) {
        text.add(word(random)).add('+').add(word(random >>> 6));
        if ((random >>> 12 & 1) == 0) text.add('+').add(word(random >>> 13));
    }
}
