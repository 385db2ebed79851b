// SPDX-License-Identifier: Apache-2.0
package skein.wf.wf2;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import skein.wf.Accumulator;
import skein.wf.Budget;
import skein.wf.KeyTable;
import skein.wf.Ranking;

/**
 * The tallies of Wide Finder 2, as one worker counts them; {@link #merge} adds another worker's, part by part.
 *
 * <p>One entry has all values of a URL: bytes, hits and 404s, and whether the URL is an article, which is computed once for each
 * URL. So a line costs one look-up, or three if it is a hit of an article.
 */
public final class Wf2 extends Accumulator<Wf2> {
    /* Values of a URL's entry. */
    private static final int BYTES = 0;
    private static final int HITS = 1;
    private static final int MISSES = 2;
    private static final int FLAGS = 3;
    /* Bits of FLAGS. */
    private static final long KNOWN = 1;
    private static final long ARTICLE = 2;
    private static final long FETCHED = 4;
    private static final int BATCH_LINES = 128;
    private static final int CAPACITY = 1 << 13;
    private static final byte[] ARTICLES = "/ongoing/When/".getBytes(StandardCharsets.ISO_8859_1);
    /** The text after it; 0 stands for a digit. */
    private static final byte[] DATE = "000x/0000/00/00/".getBytes(StandardCharsets.ISO_8859_1);

    private static final byte[] OWN_PAGES = "http://www.tbray.org/ongoing/".getBytes(StandardCharsets.ISO_8859_1);

    private static final int PARTS = 4;

    private final Line line = new Line();
    private final KeyTable urls;
    private final KeyTable clients;
    private final KeyTable referrers;
    /* The batch: the lines that count among the last ones parsed, a column for each part. */
    private int batchLines;
    private final int[] urlFrom = new int[BATCH_LINES];
    private final int[] urlTo = new int[BATCH_LINES];
    private final int[] clientFrom = new int[BATCH_LINES];
    private final int[] clientTo = new int[BATCH_LINES];
    private final int[] referrerFrom = new int[BATCH_LINES];
    private final int[] end = new int[BATCH_LINES];
    private final long[] size = new long[BATCH_LINES]; // -1 for a 404
    private int articleLines;
    private final int[] articles = new int[BATCH_LINES]; // which lines of the batch are hits of articles
    private final int[] keyFrom = new int[BATCH_LINES];
    private final int[] keyTo = new int[BATCH_LINES];
    private final int[] entries = new int[BATCH_LINES];
    private long malformed;
    private long ignored;
    private long counted;

    /** Makes tallies that have counted nothing. The tables' memory comes out of {@code budget}. */
    public Wf2(Budget budget) {
        urls = new KeyTable(4, CAPACITY, budget);
        clients = new KeyTable(1, CAPACITY, budget);
        referrers = new KeyTable(1, CAPACITY, budget);
    }

    @Override
    protected void addLines(byte[] bytes, int from, int to, int file, long position) {
        for (int at = from; at < to; ) {
            at = parse(bytes, at, to);
            countUrls(bytes);
            countClients(bytes);
            countReferrers(bytes);
        }
    }

    /** Puts the next lines that count into the batch. Returns where to continue. */
    private int parse(byte[] bytes, int at, int to) {
        int n = 0;
        for (; at < to && n < BATCH_LINES; at = line.next) {
            switch (line.parse(bytes, at)) {
                case Line.COUNTED -> put(n++);
                case Line.IGNORED -> ignored++;
                default -> malformed++;
            }
        }
        counted += n;
        batchLines = n;
        return at;
    }

    private void put(int n) {
        urlFrom[n] = line.urlFrom;
        urlTo[n] = line.urlTo;
        clientFrom[n] = line.clientFrom;
        clientTo[n] = line.clientTo;
        referrerFrom[n] = line.referrerFrom;
        end[n] = line.end;
        size[n] = line.missing ? -1 : line.size;
    }

    private void countUrls(byte[] bytes) {
        urls.findAll(bytes, urlFrom, urlTo, batchLines, entries);
        long[] cells = urls.cells();
        int n = 0;
        for (int i = 0; i < batchLines; i++) {
            int url = entries[i];
            long flags = cells[url + FLAGS];
            if (flags == 0) flags = KNOWN | (isArticle(bytes, urlFrom[i], urlTo[i]) ? ARTICLE : 0);
            if (size[i] < 0) {
                cells[url + MISSES]++;
            } else {
                cells[url + BYTES] = Math.addExact(cells[url + BYTES], size[i]);
                flags |= FETCHED;
                if ((flags & ARTICLE) != 0) {
                    cells[url + HITS]++;
                    articles[n++] = i;
                }
            }
            cells[url + FLAGS] = flags;
        }
        articleLines = n;
    }

    private void countClients(byte[] bytes) {
        for (int n = 0; n < articleLines; n++) {
            keyFrom[n] = clientFrom[articles[n]];
            keyTo[n] = clientTo[articles[n]];
        }
        count(clients, bytes, articleLines);
    }

    private void countReferrers(byte[] bytes) {
        int keys = 0;
        for (int n = 0; n < articleLines; n++) {
            int from = referrerFrom[articles[n]];
            int to = Line.fieldTo(bytes, from, end[articles[n]]);
            if (from < to && bytes[from] == '"') from++;
            if (from < to && bytes[to - 1] == '"') to--;
            if ((to - from == 1 && bytes[from] == '-') || startsWith(bytes, from, to, OWN_PAGES)) continue;
            keyFrom[keys] = from;
            keyTo[keys++] = to;
        }
        count(referrers, bytes, keys);
    }

    private void count(KeyTable counts, byte[] bytes, int n) {
        counts.findAll(bytes, keyFrom, keyTo, n, entries);
        long[] cells = counts.cells();
        for (int i = 0; i < n; i++) cells[entries[i]]++;
    }

    private static boolean startsWith(byte[] bytes, int from, int to, byte[] prefix) {
        if (to - from < prefix.length) return false;
        for (int i = 0; i < prefix.length; i++) if (bytes[from + i] != prefix[i]) return false;
        return true;
    }

    /** Returns whether the whole key matches {@code /ongoing/When/DDDx/DDDD/DD/DD/X}, X one or more bytes without a dot. */
    private static boolean isArticle(byte[] bytes, int from, int to) {
        int date = from + ARTICLES.length;
        int name = date + DATE.length;
        if (to <= name || !startsWith(bytes, from, to, ARTICLES)) return false;
        for (int i = 0; i < DATE.length; i++) {
            int found = bytes[date + i];
            if (DATE[i] == '0' ? found < '0' || found > '9' : found != DATE[i]) return false;
        }
        for (int i = name; i < to; i++) if (bytes[i] == '.') return false;
        return true;
    }

    @Override
    public int parts() {
        return PARTS;
    }

    @Override
    protected void mergePart(Wf2 other, int part) {
        switch (part) {
            case 0 -> mergeCounts(clients, other.clients);
            case 1 -> mergeUrls(other.urls);
            case 2 -> mergeCounts(referrers, other.referrers);
            default -> {
                malformed += other.malformed;
                ignored += other.ignored;
                counted += other.counted;
            }
        }
    }

    @Override
    protected void write(DataOutput out) throws IOException {
        for (KeyTable table : new KeyTable[] {urls, clients, referrers}) table.writeTo(out);
        for (long number : new long[] {malformed, ignored, counted}) out.writeLong(number);
    }

    @Override
    protected void read(DataInput in) throws IOException {
        for (KeyTable table : new KeyTable[] {urls, clients, referrers}) table.readFrom(in);
        malformed = in.readLong();
        ignored = in.readLong();
        counted = in.readLong();
    }

    private void mergeUrls(KeyTable other) {
        for (int at = other.first(); at < other.end(); at = other.next(at)) {
            int url = urls.find(other, at);
            urls.cells()[url + BYTES] = Math.addExact(urls.cells()[url + BYTES], other.cells()[at + BYTES]);
            urls.cells()[url + HITS] += other.cells()[at + HITS];
            urls.cells()[url + MISSES] += other.cells()[at + MISSES];
            urls.cells()[url + FLAGS] |= other.cells()[at + FLAGS];
        }
    }

    private static void mergeCounts(KeyTable counts, KeyTable other) {
        for (int at = other.first(); at < other.end(); at = other.next(at)) {
            int key = counts.find(other, at);
            counts.cells()[key] += other.cells()[at];
        }
    }

    /** Returns how many lines have too few fields or no size. */
    public long malformed() {
        return malformed;
    }

    /** Returns how many lines are not a GET answered with 200, 304 or 404. */
    public long ignored() {
        return ignored;
    }

    /** Returns how many lines were counted. */
    public long counted() {
        return counted;
    }

    /** Returns the hits by article. */
    public Ranking urlHits() {
        return new Ranking(urls, HITS, HITS, -1);
    }

    /** Returns the bytes by URL. */
    public Ranking urlBytes() {
        return new Ranking(urls, BYTES, FLAGS, FETCHED);
    }

    /** Returns the 404s by URL. */
    public Ranking misses() {
        return new Ranking(urls, MISSES, MISSES, -1);
    }

    /** Returns the article hits by client. */
    public Ranking clients() {
        return new Ranking(clients, 0, 0, -1);
    }

    /** Returns the article hits by referrer. */
    public Ranking referrers() {
        return new Ranking(referrers, 0, 0, -1);
    }
}
