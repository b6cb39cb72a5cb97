package dev.droidgate.sample.weather;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.zip.CRC32;

/**
 * The weather of one place on one day (0 is today), drawn from the CRC-32 of "place|day" in small letters:
 * three bytes give the temperature, the sky and the wind.
 */
final class Weather {
    private static final String[] SKIES =
            {"sunny", "partly cloudy", "overcast", "light rain", "heavy rain", "snow"};
    private static final int COLDEST = -5;
    private static final int TEMPERATURES = 36;
    private static final int WINDS = 60;
    private static final int SNOW = 5;
    private static final int SNOW_LIMIT = 2;

    final int temperature;
    final String sky;
    final int wind;

    private Weather(int temperature, String sky, int wind) {
        this.temperature = temperature;
        this.sky = sky;
        this.wind = wind;
    }

    static Weather of(String place, int day) {
        CRC32 crc = new CRC32();
        crc.update((place.toLowerCase(Locale.ROOT) + "|" + day).getBytes(StandardCharsets.UTF_8));
        long drawn = crc.getValue();
        int temperature = COLDEST + (int) (drawn & 0xff) % TEMPERATURES;
        int sky = (int) (drawn >> 8 & 0xff) % SKIES.length;
        int wind = (int) (drawn >> 16 & 0xff) % WINDS;
        if (sky == SNOW && temperature > SNOW_LIMIT) {
            sky--;
        }
        return new Weather(temperature, SKIES[sky], wind);
    }
}
